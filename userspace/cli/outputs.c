/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/outputs.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/loop.h"
#include "cli/options.h"
#include "cli/stream.h"
#include "exporters/exporter.h"
#include "model/recording.h"

#define DEFAULT_FORMAT "jfr"

const char *outputs_formats(char *to, size_t size)
{
	size_t len = 0;

	to[0] = 0;
	for (const struct exporter *e = exporters; e->name && len < size; e++)
		len += (size_t)snprintf(to + len, size - len, "%s%s", len ? ", " : "", e->name);
	return to;
}

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

const struct exporter *outputs_format(const struct options *options, size_t n)
{
	const char *path = options->files[n];
	const struct exporter *by_suffix = is_stdout(path) ? NULL : exporter_by_path(path);

	if (options->format && (options->file_count == 1 || !by_suffix))
		return options->format;
	return by_suffix;
}

/* The events of -e that give a metric its numbers. */
static unsigned int events_of(enum rec_metric metric)
{
	static const unsigned int events[REC_METRIC_NR] = {
		[REC_CPU] = LIVE_EVENT_CPU,
		[REC_NATIVE_ALLOC] = LIVE_EVENT_NATIVE,
		[REC_NATIVE_LIVE] = LIVE_EVENT_NATIVE,
		[REC_VM_RESERVED] = LIVE_EVENT_NATIVE,
		[REC_VM_COMMITTED] = LIVE_EVENT_NATIVE,
		[REC_THREAD_STACKS] = LIVE_EVENT_NATIVE,
		[REC_CLASS_LOAD] = LIVE_EVENT_CLASS,
		[REC_LOCK_WAIT] = LIVE_EVENT_LOCK,
		[REC_OBJECT_WAIT] = LIVE_EVENT_LOCK,
		[REC_PARK] = LIVE_EVENT_LOCK,
		[REC_EXCEPTION] = LIVE_EVENT_EXCEPTION,
		[REC_DEOPTIMIZATION] = LIVE_EVENT_JIT,
		[REC_OFFCPU] = LIVE_EVENT_OFFCPU,
		[REC_WAKEUP] = LIVE_EVENT_OFFCPU,
		[REC_HEAP_ALLOC] = LIVE_EVENT_ALLOC,
		[REC_SOCKET_READ] = LIVE_EVENT_IO,
		[REC_SOCKET_WRITE] = LIVE_EVENT_IO,
		[REC_FILE_READ] = LIVE_EVENT_IO,
		[REC_FILE_WRITE] = LIVE_EVENT_IO,
		[REC_FILE_FORCE] = LIVE_EVENT_IO,
		[REC_SOCKET_READ_BYTES] = LIVE_EVENT_IO,
		[REC_SOCKET_WRITE_BYTES] = LIVE_EVENT_IO,
		[REC_FILE_READ_BYTES] = LIVE_EVENT_IO,
		[REC_FILE_WRITE_BYTES] = LIVE_EVENT_IO,
	};

	return events[metric];
}

/* Of the only output when no file was given. */
static const struct exporter *default_format(const struct options *options)
{
	return options->format ? options->format : exporter_by_name(DEFAULT_FORMAT);
}

static bool has_format(const struct options *options, const char *name)
{
	const struct exporter *format = exporter_by_name(name);

	for (size_t i = 0; i < options->file_count; i++)
		if (outputs_format(options, i) == format)
			return true;
	return !options->file_count && default_format(options) == format;
}

/* Collapsed stacks are of one metric: without its events the file would be empty. */
static int check_metric(const struct options *options)
{
	unsigned int events = events_of(options->metric);
	char text[64];

	if (!has_format(options, "collapsed") || options->events & events)
		return 0;
	log_error("--metric %s: is not recorded without -e %s",
		  rec_metric_info(options->metric)->name,
		  options_events_text(events, text, sizeof(text)));
	return -EINVAL;
}

void outputs_say_unused(const struct options *options)
{
	const struct {
		const char *name, *format;
		bool given;
	} only[] = {
		{ "metric", "collapsed", options->metric != REC_CPU },
		{ "threads", "collapsed", options->threads },
		{ "lines", "collapsed", options->lines },
		{ "annotate", "collapsed", options->annotate },
		{ "chunk", "jfr", options->chunk_ns != OPTIONS_CHUNK_DEFAULT_NS },
		{ "max-size", "jfr", options->max_bytes },
		{ "max-age", "jfr", options->max_age_ns },
	};

	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++)
		if (only[i].given && !has_format(options, only[i].format))
			log_warn("--%s: has no effect, since no output is %s", only[i].name,
				 only[i].format);
}

/* What only native memory has something for. */
static bool lacks_native(const struct options *options, const struct exporter *format)
{
	if (!format || !format->needs_native || options->events & LIVE_EVENT_NATIVE)
		return false;
	log_error("--format %s: native memory is not recorded: add native to -e", format->name);
	return true;
}

int outputs_check_formats(const struct options *options)
{
	bool stdout_used = false;
	char formats[128];

	if (!options->file_count && lacks_native(options, options->format))
		return -EINVAL;
	for (size_t i = 0; i < options->file_count; i++) {
		const char *path = options->files[i];

		if (is_stdout(path) && stdout_used) {
			log_error("-f -: standard output can be written only once");
			return -EINVAL;
		}
		stdout_used |= is_stdout(path);
		if (is_stdout(path) && (options->max_bytes || options->max_age_ns)) {
			log_error("-f -: standard output forgets nothing: --max-size and --max-age "
				  "need a file");
			return -EINVAL;
		}
		for (size_t k = 0; k < i; k++) {
			if (strcmp(options->files[k], path) != 0)
				continue;
			log_error("-f %s: given twice", path);
			return -EINVAL;
		}
		if (lacks_native(options, outputs_format(options, i)))
			return -EINVAL;
		if (outputs_format(options, i))
			continue;
		if (is_stdout(path))
			log_error("-f -: standard output needs --format (there is %s)",
				  outputs_formats(formats, sizeof(formats)));
		else
			log_error("-f %s: the suffix names no format that can be written; give "
				  "--format (there is %s)",
				  path, outputs_formats(formats, sizeof(formats)));
		return -EINVAL;
	}
	outputs_say_unused(options);
	return check_metric(options);
}

int outputs_expand(const char *pattern, const char *pid, time_t when, char *to, size_t size)
{
	struct tm tm = { 0 };
	char date[32] = "";
	size_t len = 0;

	if (localtime_r(&when, &tm))
		strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);

	for (const char *at = pattern; *at; at++) {
		char one[2] = { *at, 0 };
		const char *text = one;

		if (at[0] == '%' && at[1] && strchr("pt%", at[1])) {
			at++;
			text = *at == 'p' ? pid : *at == 't' ? date : "%";
		}
		if (len + strlen(text) >= size)
			return -ENAMETOOLONG;
		memcpy(to + len, text, strlen(text));
		len += strlen(text);
	}
	to[len] = 0;
	return 0;
}

const char *outputs_pid_text(const struct options *options, pid_t pid, char *to, size_t size)
{
	if (options->all)
		snprintf(to, size, "all");
	else if (options->pid_count > 1)
		snprintf(to, size, "%d+%zu", options->pids[0], options->pid_count - 1);
	else
		snprintf(to, size, "%d", pid);
	return to;
}

/* What the n-th output is called; the default name when no file was given. */
static int path_of(const struct outputs *outputs, size_t n, char *to, size_t size)
{
	const struct options *options = outputs->options;
	const struct exporter *format;
	char pattern[64];

	if (options->file_count) {
		if (is_stdout(options->files[n])) {
			snprintf(to, size, "-");
			return 0;
		}
		return outputs_expand(options->files[n], outputs->pid, outputs->when, to, size);
	}
	format = default_format(options);
	snprintf(pattern, sizeof(pattern), "jvmscope-%%p-%%t%s", format->suffix);
	return outputs_expand(pattern, outputs->pid, outputs->when, to, size);
}

static const struct exporter *format_of(const struct outputs *outputs, size_t n)
{
	const struct options *options = outputs->options;

	return options->file_count ? outputs_format(options, n) : default_format(options);
}

static size_t count_of(const struct outputs *outputs)
{
	return outputs->options->file_count ? outputs->options->file_count : 1;
}

/* What only fails when the file appears under its name, or is opened, is tried out. */
static int try_path(const char *path)
{
	struct output output;
	struct stat st;
	int err;

	if (lstat(path, &st) && errno != ENOENT)
		err = -errno;
	else
		err = output_open(path, &output);
	if (!err)
		output_abort(&output);
	if (err)
		log_error("%s: cannot be written: %s", path, strerror(-err));
	return err;
}

static int check_path(const char *path)
{
	char copy[OUTPUTS_PATH_MAX];
	const char *folder;
	struct stat st;

	if (is_stdout(path))
		return 0;
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode)) {
			log_error("%s: is a folder; give a file in it", path);
			return -EISDIR;
		}
		/* A device or a pipe is written in place, and opened only then. */
		if (!S_ISREG(st.st_mode))
			return 0;
	}
	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	if (!stat(folder, &st))
		return try_path(path);
	log_error("%s: cannot be written: folder %s: %s", path, folder, strerror(errno));
	return -errno;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool stat_folder(const char *path, struct stat *out)
{
	char copy[OUTPUTS_PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	return !stat(dirname(copy), out);
}

/* Whether two paths are the same name in the same folder, however they are written. */
static bool is_same(const char *a, const char *b)
{
	struct stat one, other;

	return !strcmp(name_of(a), name_of(b)) && stat_folder(a, &one) && stat_folder(b, &other) &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* The one that is written last would be all that is left. */
static int check_distinct(const struct outputs *outputs, size_t n, const char *path)
{
	char other[OUTPUTS_PATH_MAX];

	for (size_t i = 0; i < n && !is_stdout(path); i++) {
		if (path_of(outputs, i, other, sizeof(other)) || is_stdout(other) ||
		    !is_same(path, other))
			continue;
		log_error("-f %s: the same file as -f %s", outputs->options->files[n],
			  outputs->options->files[i]);
		return -EEXIST;
	}
	return 0;
}

int outputs_check_paths(const struct outputs *outputs)
{
	char path[OUTPUTS_PATH_MAX];
	int err = 0;

	for (size_t i = 0; i < count_of(outputs) && !err; i++) {
		err = path_of(outputs, i, path, sizeof(path));
		if (err)
			log_error("-f %s: %s", outputs->options->files[i], strerror(-err));
		else
			err = check_path(path);
		if (!err)
			err = check_distinct(outputs, i, path);
	}
	return err;
}

/* ---- written while the recording goes on */

int outputs_begin(struct outputs *outputs, struct recording *rec)
{
	char path[OUTPUTS_PATH_MAX];
	int err = 0;

	for (size_t i = 0; i < count_of(outputs) && !err; i++) {
		if (!format_of(outputs, i)->needs_samples)
			continue;
		rec_samples_keep(rec, true);
		err = path_of(outputs, i, path, sizeof(path));
		if (!err)
			err = stream_open(path, outputs->options, rec, &outputs->streams[i]);
	}
	return err;
}

int outputs_chunk(struct outputs *outputs, struct recording *rec, struct filter *filter,
		  int64_t end_ns)
{
	bool some_left = false;
	int first = 0;

	for (size_t i = 0; i < count_of(outputs); i++) {
		int err = 0;

		if (outputs->streams[i])
			err = stream_chunk(outputs->streams[i], rec, filter, end_ns);
		some_left |= !err;
		first = first ? first : err;
	}
	rec_samples_drop(rec);
	return some_left ? 0 : first;
}

int outputs_end(struct outputs *outputs, struct recording *rec, struct filter *filter)
{
	int64_t end_ns = rec_meta_get(rec)->end_time_ns;
	int first = 0;

	for (size_t i = 0; i < count_of(outputs); i++) {
		int err = 0;

		if (outputs->streams[i])
			err = stream_end(outputs->streams[i], rec, filter, end_ns);
		first = first ? first : err;
	}
	rec_samples_drop(rec);
	return first;
}

void outputs_close(struct outputs *outputs)
{
	for (size_t i = 0; i < OPTIONS_FILES_MAX; i++) {
		stream_close(outputs->streams[i]);
		outputs->streams[i] = NULL;
	}
}

/* ---- written at the end */

/* Between an exporter and its file. */
struct sink {
	FILE *file;
	int err; /* of the first write that failed; stdio keeps only that one did */
};

/* Ends the export when a second signal asks for that. */
static ssize_t sink_write(void *cookie, const char *bytes, size_t size)
{
	struct sink *sink = cookie;
	size_t written;

	if (loop_aborted())
		return 0;
	errno = 0;
	written = fwrite(bytes, 1, size, sink->file);
	if (written < size && !sink->err)
		sink->err = errno ? -errno : -EIO;
	return (ssize_t)written;
}

static int export_to(const struct exporter *exporter, const struct outputs *outputs,
		     const struct recording *rec, FILE *file)
{
	static const cookie_io_functions_t calls = { .write = sink_write };
	struct export_options how = {
		.metric = outputs->options->metric,
		.lines = outputs->options->lines,
		.annotate = outputs->options->annotate,
		.threads = outputs->options->threads,
	};
	struct sink sink = { .file = file };
	FILE *out = fopencookie(&sink, "w", calls);
	int err;

	if (!out)
		return -ENOMEM;
	err = exporter->write(rec, &how, out);
	if (fclose(out) && !err)
		err = -EIO;
	return sink.err ? sink.err : err;
}

static void say_written(const char *path)
{
	char size[TEXT_MAX];
	struct stat st;

	if (is_stdout(path))
		log_info("standard output: written");
	else if (stat(path, &st) || !S_ISREG(st.st_mode))
		log_info("%s: written", path);
	else
		log_info("%s: written, %s", path, text_bytes((uint64_t)st.st_size, size));
}

static void say_not_written(const char *name, int err)
{
	log_error("%s: not written: %s", name,
		  loop_aborted() ? "interrupted a second time" : strerror(-err));
}

static int write_one(const struct exporter *exporter, const struct outputs *outputs,
		     const struct recording *rec, const char *path)
{
	const char *name = is_stdout(path) ? "standard output" : path;
	struct output output = { 0 };
	int err;

	err = output_open(path, &output);
	if (err) {
		say_not_written(name, err);
		return err;
	}
	err = export_to(exporter, outputs, rec, output.file);
	if (loop_aborted())
		err = -EINTR;
	if (err) {
		say_not_written(name, err);
		output_abort(&output);
		return err;
	}
	err = output_commit(&output);
	if (err) {
		say_not_written(name, err);
		return err;
	}
	say_written(path);
	return 0;
}

int outputs_write(const struct outputs *outputs, const struct recording *rec)
{
	char path[OUTPUTS_PATH_MAX];
	int first = 0;

	for (size_t i = 0; i < count_of(outputs); i++) {
		int err;

		if (outputs->streams[i])
			continue;
		err = path_of(outputs, i, path, sizeof(path));
		if (!err)
			err = write_one(format_of(outputs, i), outputs, rec, path);
		if (err && !first)
			first = err;
	}
	return first;
}
