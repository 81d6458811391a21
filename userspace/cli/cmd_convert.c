/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/log.h"
#include "cli/command.h"
#include "cli/outputs.h"
#include "cli/triefile.h"
#include "exporters/exporter.h"
#include "import/import.h"
#include "model/filter.h"
#include "model/native.h"

#define HELP_HINT "see jvmscope help convert"

/* Whether the output would replace the file that is read, by whatever name. */
static bool is_input(const struct options *options)
{
	struct stat input, output;

	return !stat(options->operands[0], &input) && !stat(options->output, &output) &&
	       S_ISREG(input.st_mode) && input.st_dev == output.st_dev &&
	       input.st_ino == output.st_ino;
}

/* The output's format, or NULL after one line that says what is wrong. */
static const struct exporter *check_options(const struct options *options)
{
	const struct exporter *format = options->format;
	char formats[128];

	if (options->operand_count != 1) {
		log_error("%s (" HELP_HINT ")", options->operand_count
							? "more than one file to read"
							: "no file to read");
		return NULL;
	}
	if (!options->output) {
		log_error("no file to write: give -o FILE (" HELP_HINT ")");
		return NULL;
	}
	if (is_input(options)) {
		log_error("-o %s: is the file that is read", options->output);
		return NULL;
	}
	if (!format && strcmp(options->output, "-") != 0)
		format = exporter_by_path(options->output);
	if (!format)
		log_error("-o %s: %s (there is %s)", options->output,
			  strcmp(options->output, "-") != 0
				  ? "the suffix names no format that can be written; give --format"
				  : "standard output needs --format",
			  outputs_formats(formats, sizeof(formats)));
	return format;
}

/* Samples that are in no stack of the output as they should be. */
static bool is_incomplete(const struct recording *rec, const struct import_result *result)
{
	return result->damaged || rec_quality_sum(rec, REC_QUALITY_LOST);
}

/* What a recording has no room for: "samples_over_limit". Returns whether there was any. */
static bool warn_of_limits(const struct options *options, const struct recording *rec)
{
	static const char suffix[] = "_over_limit";
	const struct rec_quality_row *rows;
	bool found = false;
	size_t count;

	rows = rec_quality_rows(rec, &count);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(rows[i].name);

		if (!rows[i].count || len < sizeof(suffix) ||
		    strcmp(rows[i].name + len - (sizeof(suffix) - 1), suffix) != 0)
			continue;
		log_warn("%s: %" PRIu64
			 " %.*s are more than a recording holds: left out, or in one sum",
			 options->operands[0], rows[i].count, (int)(len - (sizeof(suffix) - 1)),
			 rows[i].name);
		found = true;
	}
	return found;
}

/* A file that comes out empty is no error: a recording may have been idle. */
static void warn_if_empty(const struct options *options, const struct exporter *format,
			  const struct recording *rec)
{
	bool one_metric = format == exporter_by_name("collapsed");
	const struct rec_total *totals;
	size_t count, i = 0;

	totals = rec_totals(rec, &count);
	while (i < count && one_metric && totals[i].key.metric != options->metric)
		i++;
	if (i == count)
		log_warn("%s: has no stacks of %s", options->operands[0],
			 one_metric ? rec_metric_info(options->metric)->name : "any metric");
}

/* What only native memory has something for. */
static bool lacks_native(const struct options *options, const struct exporter *format,
			 const struct recording *rec)
{
	if (!format->needs_native || rec_has_native(rec))
		return false;
	log_error("%s: has no native memory, which --format %s is of", options->operands[0],
		  format->name);
	return true;
}

/* Whether a list of events has one: "io" is also a part of "exception". */
static bool has_event(const char *events, const char *event)
{
	const size_t len = strlen(event);

	for (; events; events = strchr(events, ',')) {
		events += *events == ',';
		if (strcspn(events, ",") == len && !memcmp(events, event, len))
			return true;
	}
	return false;
}

/* JFR has such rows, and they are not read. */
static void warn_of_io(const struct options *options, const struct recording *rec)
{
	if (has_event(rec_text(rec, rec_meta_get(rec)->events), "io"))
		log_warn("%s: left out, if there were any: reads and writes", options->operands[0]);
}

/* Of our own files, which say what was recorded, more is known than is read. */
static void warn_of_rest(const struct options *options, const struct exporter *format,
			 const struct recording *rec)
{
	bool holds_all = format == exporter_by_name("json") || format == exporter_by_name("jfr");
	const char *events = rec_text(rec, rec_meta_get(rec)->events);

	if (!holds_all)
		return;
	if (strstr(events, "class"))
		log_warn("%s: lists of classes are left out", options->operands[0]);
}

/* The class-name rules, as when a recording is made. Logs and returns a negative errno. */
static int apply_rules(const struct options *options, struct recording *rec)
{
	struct filter filter = { .rec = rec, .mode = options->filter };
	struct trie_words words = { 0 };
	int err = triefile_choose(options->trie, &words, &filter.trie);

	if (err)
		return err;
	err = filter_apply(&filter, triefile_source(options->trie));
	if (err)
		log_error("--filter %s: %s", filter_mode_name(options->filter), strerror(-err));
	filter_free(&filter);
	trie_words_free(&words);
	return err;
}

static int write_output(const struct options *options, const struct exporter *format,
			const struct recording *rec)
{
	struct options one = *options;
	struct outputs outputs = { .options = &one, .when = time(NULL) };
	uint32_t jvms = rec_jvm_count(rec);

	one.files[0] = options->output;
	one.file_count = 1;
	one.format = format;
	outputs_say_unused(&one);
	snprintf(outputs.pid, sizeof(outputs.pid), "%d", jvms ? rec_jvm_get(rec, 1)->pid : 0);
	return outputs_write(&outputs, rec);
}

static int convert(const struct options *options, const struct exporter *format,
		   struct recording *rec)
{
	struct import_options how = {
		.path = options->operands[0],
		.keep_samples = format->needs_samples,
	};
	struct import_result result;
	bool over_limit;

	if (import_file(&how, rec, &result))
		return EXIT_RUNTIME;
	if (lacks_native(options, format, rec))
		return EXIT_RUNTIME;
	over_limit = warn_of_limits(options, rec);
	warn_if_empty(options, format, rec);
	warn_of_io(options, rec);
	warn_of_rest(options, format, rec);
	if (apply_rules(options, rec))
		return EXIT_RUNTIME;
	if (write_output(options, format, rec))
		return EXIT_RUNTIME;
	if (options->strict && (over_limit || is_incomplete(rec, &result))) {
		log_error("%s: something is missing, which --strict makes an error", how.path);
		return EXIT_RUNTIME;
	}
	return EXIT_DONE;
}

int cmd_convert(const struct options *options)
{
	const struct exporter *format = check_options(options);
	struct recording *rec;
	int status;

	if (!format)
		return EXIT_USAGE;
	rec = rec_new();
	if (!rec) {
		log_error("%s", strerror(ENOMEM));
		return EXIT_RUNTIME;
	}
	status = convert(options, format, rec);
	rec_free(rec);
	return status;
}
