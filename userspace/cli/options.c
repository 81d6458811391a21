/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/outputs.h"
#include "exporters/exporter.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define HELP_HINT     "see jvmscope help"

/* A setter that has said what is wrong by itself returns this; -EINVAL makes parse() say it. */
#define SAID (-ECANCELED)

struct option_row {
	char key;
	unsigned int commands; /* enum option_command, or-ed */
	const char *name;
	const char *arg; /* NULL: a flag */
	int (*set)(struct options *options, const char *arg);
	size_t flag;	     /* offset of the bool that a flag sets */
	const char *expects; /* what a right argument is, for the message on a wrong one */
	const char *help;
};

static int set_pid(struct options *options, const char *arg)
{
	pid_t pids[OPTIONS_PIDS_MAX];
	size_t count;
	int err;

	err = text_pids(arg, pids, OPTIONS_PIDS_MAX, &count);
	if (err)
		return err;

	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		while (at < options->pid_count && options->pids[at] != pids[i])
			at++;
		if (at == OPTIONS_PIDS_MAX)
			return -E2BIG;
		options->pids[at] = pids[i];
		if (at == options->pid_count)
			options->pid_count++;
	}
	return 0;
}

static int set_duration(struct options *options, const char *arg)
{
	return text_duration_ns(arg, &options->duration_ns);
}

static int set_file(struct options *options, const char *arg)
{
	if (!*arg)
		return -EINVAL;
	if (options->file_count == OPTIONS_FILES_MAX)
		return -E2BIG;
	options->files[options->file_count++] = arg;
	return 0;
}

static int set_format(struct options *options, const char *arg)
{
	char formats[128];

	options->format = exporter_by_name(arg);
	if (options->format)
		return 0;
	log_error("--format %s: no such format (there is %s)", arg,
		  outputs_formats(formats, sizeof(formats)));
	return SAID;
}

static int set_events(struct options *options, const char *arg)
{
	return options_read_events(arg, &options->events) ? SAID : 0;
}

static int set_u32(const char *arg, uint64_t lo, uint64_t hi, uint32_t *out)
{
	uint64_t value;
	int err;

	err = text_number(arg, lo, hi, &value);
	if (!err)
		*out = (uint32_t)value;
	return err;
}

static int set_frequency(struct options *options, const char *arg)
{
	return set_u32(arg, 1, OPTIONS_HZ_MAX, &options->frequency);
}

static int set_overhead(struct options *options, const char *arg)
{
	char *end;
	double value;

	options->max_overhead = 0;
	if (!strcmp(arg, "none"))
		return 0;
	/* strtod would take a sign, blanks and hexadecimal. */
	if (strspn(arg, "0123456789.") != strcspn(arg, "%"))
		return -EINVAL;
	value = strtod(arg, &end);
	if (end == arg || (*end && strcmp(end, "%") != 0) ||
	    !(value >= OPTIONS_OVERHEAD_MIN && value <= 100))
		return -EINVAL;
	options->max_overhead = value;
	return 0;
}

static int set_depth(struct options *options, const char *arg)
{
	return set_u32(arg, OPTIONS_DEPTH_MIN, OPTIONS_DEPTH_MAX, &options->max_depth);
}

static int set_live_blocks(struct options *options, const char *arg)
{
	return set_u32(arg, OPTIONS_BLOCKS_MIN, OPTIONS_BLOCKS_MAX, &options->live_blocks);
}

static int set_sites(struct options *options, const char *arg)
{
	return set_u32(arg, OPTIONS_SITES_MIN, OPTIONS_SITES_MAX, &options->sites);
}

static int set_ring(struct options *options, const char *arg)
{
	uint64_t bytes;
	int err;

	err = text_size_bytes(arg, &bytes);
	if (err)
		return err;
	if (bytes < OPTIONS_RING_MIN || bytes > OPTIONS_RING_MAX)
		return -EINVAL;
	options->ring_bytes = bytes;
	return 0;
}

static int set_chunk(struct options *options, const char *arg)
{
	uint64_t ns;
	int err;

	err = text_duration_ns(arg, &ns);
	if (err)
		return err;
	if (ns < OPTIONS_CHUNK_MIN_NS || ns > OPTIONS_CHUNK_MAX_NS)
		return -EINVAL;
	options->chunk_ns = ns;
	return 0;
}

static int set_max_size(struct options *options, const char *arg)
{
	uint64_t bytes;
	int err;

	err = text_size_bytes(arg, &bytes);
	if (err)
		return err;
	if (bytes < OPTIONS_MAX_SIZE_MIN || bytes > INT64_MAX)
		return -EINVAL;
	options->max_bytes = bytes;
	return 0;
}

static int set_max_age(struct options *options, const char *arg)
{
	return text_duration_ns(arg, &options->max_age_ns);
}

/* The place of arg in names, or -EINVAL. */
static int choice(const char *arg, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(arg, names[i]))
			return (int)i;
	}
	return -EINVAL;
}

static int set_clock(struct options *options, const char *arg)
{
	static const char *const names[] = { "auto", "cpu-clock", "cycles" };
	int at = choice(arg, names, ARRAY_SIZE(names));

	if (at < 0)
		return at;
	options->clock = (enum live_clock)at;
	return 0;
}

static int set_word(const char *arg, const char **out)
{
	if (!*arg)
		return -EINVAL;
	*out = arg;
	return 0;
}

static int set_trie(struct options *options, const char *arg)
{
	return set_word(arg, &options->trie);
}

static int set_filter(struct options *options, const char *arg)
{
	const char *names[FILTER_MODE_NR];
	int at;

	for (int mode = 0; mode < FILTER_MODE_NR; mode++)
		names[mode] = filter_mode_name((enum filter_mode)mode);
	at = choice(arg, names, FILTER_MODE_NR);
	if (at < 0)
		return at;
	options->filter = (enum filter_mode)at;
	return 0;
}

static int set_metric(struct options *options, const char *arg)
{
	const char *names[REC_METRIC_NR];
	int at;

	for (int metric = 0; metric < REC_METRIC_NR; metric++)
		names[metric] = rec_metric_info((enum rec_metric)metric)->name;
	at = choice(arg, names, REC_METRIC_NR);
	if (at < 0)
		return at;
	options->metric = (enum rec_metric)at;
	return 0;
}

static int set_output(struct options *options, const char *arg)
{
	return set_word(arg, &options->output);
}

static int set_form(struct options *options, const char *arg)
{
	static const char *const names[] = { "text", "binary", "c", "java" };
	int at = choice(arg, names, ARRAY_SIZE(names));

	if (at < 0)
		return at;
	options->form = names[at];
	return 0;
}

static int set_name(struct options *options, const char *arg)
{
	return set_word(arg, &options->name);
}

static int set_from(struct options *options, const char *arg)
{
	return set_u32(arg, 0, UINT32_MAX, &options->from);
}

static int set_color(struct options *options, const char *arg)
{
	static const char *const names[] = { "auto", "always", "never" };
	int at = choice(arg, names, ARRAY_SIZE(names));

	if (at < 0)
		return at;
	options->color = (enum option_color)at;
	return 0;
}

#define FLAG(member) .flag = offsetof(struct options, member)

static const struct option_row rows[] = {
	{ 'p', OPTION_RECORD | OPTION_DOCTOR, "pid", "PID", set_pid,
	  .expects = "pids above 0, separated by commas, at most 64",
	  .help = "the JVM to look at, by its pid on this host; PID,PID... and repeated for several" },
	{ 0, OPTION_RECORD, "all", NULL, FLAG(all),
	  .help = "every JVM of this host, also those that start later" },
	{ 'd', OPTION_RECORD, "duration", "T", set_duration,
	  .expects = "a time above 0 such as 30, 30s, 5m or 1h",
	  .help = "how long: 30, 30s, 5m, 1h; else until Ctrl-C or the end of the target" },
	{ 'f', OPTION_RECORD, "file", "PATH", set_file, .expects = "a path, at most 16 of them",
	  .help = "output, its format by suffix (.jfr .json .collapsed .pb.gz .nmt.txt); repeat it for several. %p is the pid, %t the time, - standard output; jvmscope-%p-%t.jfr when not given" },
	{ 0, OPTION_RECORD, "format", "F", set_format,
	  .help = "format of - and of files whose suffix names none; of a single -f in any case" },
	{ 'e', OPTION_RECORD, "events", "LIST", set_events, .help = OPTIONS_EVENTS_HELP },
	{ 0, OPTION_RECORD, "max-overhead", "PCT|none", set_overhead,
	  .expects = "per cent of one core from 0.1 to 100, or none",
	  .help = "what probes may cost each target, 2 when not given; above it less is recorded, and the outputs say so. none: exact in any case" },
	{ 'F', OPTION_RECORD, "frequency", "HZ", set_frequency,
	  .expects = "a whole number from 1 to 10000; sampling faster takes the CPU it measures",
	  .help = "CPU samples per second and CPU, 99 when not given" },
	{ 0, OPTION_RECORD, "max-depth", "N", set_depth,
	  .expects = "a whole number from 64 to 16384",
	  .help = "frames kept of a stack, 1024 when not given; a longer one is marked truncated" },
	{ 0, OPTION_RECORD, "cpu-event", "EVENT", set_clock, .expects = "auto, cycles or cpu-clock",
	  .help = "what triggers a CPU sample: cycles, cpu-clock, or auto, which takes cycles where the machine counts them" },
	{ 0, OPTION_RECORD, "ring-size", "BYTES", set_ring,
	  .expects = "a size from 4k to 1G, such as 8M",
	  .help = "buffer between kernel and jvmscope, 8M when not given" },
	{ 0, OPTION_RECORD, "live-blocks", "N", set_live_blocks,
	  .expects = "a whole number from 1024 to 16777216",
	  .help = "native memory: how many blocks that live are followed at once, 262144 when not given, of 100 bytes of memory each; more are counted, but not followed" },
	{ 0, OPTION_RECORD, "native-sites", "N", set_sites,
	  .expects = "a whole number from 64 to 1048576",
	  .help = "native memory: how many stacks that allocate are told apart at once, in all JVMs that run, 32768 when not given, of 300 bytes of memory each; a JVM has some 700 at its start" },
	{ 0, OPTION_RECORD, "chunk", "T", set_chunk,
	  .expects = "a time from 100ms to 1h, such as 10s",
	  .help = "JFR: at least so often the file is complete on disk, 10s when not given; a killed recording loses what came since" },
	{ 0, OPTION_RECORD, "max-size", "BYTES", set_max_size,
	  .expects = "a size from 1M, such as 250M",
	  .help = "JFR: the file grows no larger; the newest is kept" },
	{ 0, OPTION_RECORD, "max-age", "T", set_max_age,
	  .expects = "a time above 0 such as 30m or 6h",
	  .help = "JFR: what is older is not kept; so much is, and until the end up to a quarter more" },
	{ 0, OPTION_RECORD | OPTION_CONVERT, "trie", "FILE|none", set_trie,
	  .expects = "a file of rules, or none",
	  .help = "class-name rules that say what is library code: text or built (jvmscope trie build); a built-in list when not given" },
	{ 0, OPTION_RECORD | OPTION_CONVERT, "filter", "MODE", set_filter,
	  .expects = "mark, fold, drop or off",
	  .help = "what the rules do: mark, the default, gives each Java frame its rule and counts; fold makes each run of library frames one [library] frame; drop also drops samples without an application frame; off does nothing" },
	{ 0, OPTION_RECORD | OPTION_CONVERT, "metric", "NAME", set_metric,
	  .expects =
		  "cpu, native_alloc, native_live, vm_reserved, vm_committed, thread_stacks, class_load, lock_wait, object_wait, park, heap_alloc, exception, deoptimization, offcpu, wakeup, socket_read, socket_write, file_read, file_write, file_force, socket_read_bytes, socket_write_bytes, file_read_bytes or file_write_bytes",
	  .help = "collapsed: what is counted: cpu, the default, in samples; native_alloc, native_live, vm_reserved, vm_committed, thread_stacks or heap_alloc, in bytes; class_load, in classes; lock_wait, object_wait, park, offcpu, wakeup (by who woke), socket_read, socket_write, file_read, file_write or file_force, in nanoseconds; the first four of these with _bytes, in bytes; exception or deoptimization, in events" },
	{ 0, OPTION_RECORD | OPTION_CONVERT, "threads", NULL, FLAG(threads),
	  .help = "collapsed: the thread as root frame" },
	{ 0, OPTION_RECORD | OPTION_CONVERT, "lines", NULL, FLAG(lines),
	  .help = "collapsed: line numbers" },
	{ 0, OPTION_RECORD | OPTION_CONVERT, "annotate", NULL, FLAG(annotate),
	  .help = "collapsed: how a frame ran, as suffix: _[j] C2, _[1] C1, _[0] interpreted, _[i] inlined, _[k] kernel" },
	{ 0, OPTION_RECORD | OPTION_CONVERT, "strict", NULL, FLAG(strict),
	  .help = "status 1 when something is missing from the output, such as lost samples" },
	{ 0, OPTION_PS, "json", NULL, FLAG(json), .help = "JSON instead of a table" },
	{ 'o', OPTION_CONVERT, "output", "FILE", set_output, .expects = "a path",
	  .help = "what to write, its format by suffix; - is standard output, which needs --format" },
	{ 0, OPTION_CONVERT, "format", "F", set_format, .help = "its format, whatever the suffix" },
	{ 'o', OPTION_TRIE, "output", "FILE", set_output, .expects = "a path",
	  .help = "build, dump: where to write; standard output when not given" },
	{ 0, OPTION_TRIE, "format", "F", set_form, .expects = "text, binary, c or java",
	  .help = "build: text rules, the binary form that Java programs load, a C constant, or Java source; by the suffix of -o (.trie .bin .c .java) when not given" },
	{ 0, OPTION_TRIE, "name", "NAME", set_name, .expects = "a name",
	  .help = "build: of the C constant (class_rules when not given) or the Java class, which may have its package before it (ClassRules)" },
	{ 0, OPTION_TRIE, "from", "N", set_from, .expects = "a whole number from 0",
	  .help = "lookup: characters of each name that are skipped" },
	{ 0, OPTION_TRIE, "escaped", NULL, FLAG(escaped),
	  .help = "lookup: names are ASCII, with \\uXXXX for any other UTF-16 unit" },
	{ 'q', OPTION_ANY, "quiet", NULL, FLAG(quiet), .help = "only warnings and errors" },
	{ 'v', OPTION_ANY, "verbose", NULL, FLAG(verbose), .help = "say more on standard error" },
	{ 0, OPTION_RECORD, "no-progress", NULL, FLAG(no_progress), .help = "no status line" },
	{ 0, OPTION_RECORD | OPTION_DOCTOR, "color", "WHEN", set_color,
	  .expects = "auto, always or never", .help = "auto, always or never" },
	{ 'h', OPTION_ANY, "help", NULL, FLAG(help), .help = "this text" },
	{ 0, OPTION_ANY, "version", NULL, FLAG(version), .help = "the version" },
};

#undef FLAG

#define ROW_COUNT ARRAY_SIZE(rows)

bool options_text(enum option_command command, size_t n, struct option_text *out)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (!(rows[i].commands & command) || n--)
			continue;
		*out = (struct option_text){ rows[i].key, rows[i].name, rows[i].arg, rows[i].help };
		return true;
	}
	return false;
}

/* getopt's view of the rows a command has. A long option's value is its row + LONG_BASE. */
#define LONG_BASE 256

struct getopt_view {
	struct option options[ROW_COUNT + 1];
	char keys[2 + ROW_COUNT * 2 + 1];
};

static void make_view(enum option_command command, struct getopt_view *view)
{
	size_t options = 0;
	size_t keys = 0;

	*view = (struct getopt_view){ 0 };
	/* Stop at the first operand, so that -- COMMAND is seen; where there are files, do not. */
	if (!(command & (OPTION_TRIE | OPTION_CONVERT)))
		view->keys[keys++] = '+';
	view->keys[keys++] = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (!(rows[i].commands & command))
			continue;
		view->options[options++] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].arg ? required_argument : no_argument,
			.val = (int)(LONG_BASE + i),
		};
		if (!rows[i].key)
			continue;
		view->keys[keys++] = rows[i].key;
		if (rows[i].arg)
			view->keys[keys++] = ':';
	}
}

/* value is one that make_view gave to getopt, so it is always found. */
static const struct option_row *row_of(int value)
{
	size_t at = 0;

	if (value >= LONG_BASE)
		return &rows[value - LONG_BASE];
	while (at + 1 < ROW_COUNT && rows[at].key != value)
		at++;
	return &rows[at];
}

static void say_bad_value(const struct option_row *row, const char *arg)
{
	if (row->key)
		log_error("-%c %s: expected %s", row->key, arg, row->expects);
	else
		log_error("--%s %s: expected %s", row->name, arg, row->expects);
}

/* Whether some other command has this option: by its letter, or as "--name=...". */
static bool known_elsewhere(char key, const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (key && key == rows[i].key)
			return true;
		if (!key && strlen(rows[i].name) + 2 == len &&
		    !memcmp(word + 2, rows[i].name, len - 2))
			return true;
	}
	return false;
}

/*
 * value is what getopt_long returned: '?' or ':'. optopt is the letter it looked at, else it has
 * gone past a long option, and optopt is that one's value, or 0 when it is unknown.
 */
static void say_bad_option(int value, char *const *argv)
{
	bool is_long = !optopt || optopt >= LONG_BASE;
	const char *word = is_long ? argv[optind - 1] : "";
	char name[3] = { '-', (char)optopt, 0 };
	const char *what = is_long ? word : name;

	if (value == ':')
		log_error("%s: needs an argument (" HELP_HINT ")", what);
	else if (is_long && optopt)
		log_error("%s: takes no argument (" HELP_HINT ")", what);
	else if (known_elsewhere(name[is_long ? 2 : 1], word))
		log_error("%s: not an option of this command (" HELP_HINT ")", what);
	else
		log_error("%s: unknown option, or an ambiguous short form (" HELP_HINT ")", what);
}

static int apply(const struct option_row *row, const char *arg, struct options *options)
{
	char *base = (char *)options;
	int err;

	if (!row->set) {
		*(bool *)(void *)(base + row->flag) = true;
		return 0;
	}
	err = row->set(options, arg);
	if (err && err != SAID)
		say_bad_value(row, arg);
	return err ? -EINVAL : 0;
}

/* Reads options up to the first operand; optind tells where that is. */
static int read_options(enum option_command command, int argc, char **argv, struct options *options)
{
	struct getopt_view view;
	int value;

	make_view(command, &view);
	opterr = 0;
	optind = 0; /* glibc: start over, also when argv changed */
	for (;;) {
		int err;

		value = getopt_long(argc, argv, view.keys, view.options, NULL);
		if (value == -1)
			return 0;
		if (value == '?' || value == ':') {
			say_bad_option(value, argv);
			return -EINVAL;
		}
		err = apply(row_of(value), optarg, options);
		if (err)
			return err;
	}
}

static int check_record_targets(const struct options *options)
{
	int ways = (options->pid_count > 0) + options->all + (options->command != NULL);

	if (options->operand_count) {
		log_error("%s: unexpected argument (a pid follows -p, a command follows --)",
			  options->operands[0]);
		return -EINVAL;
	}
	if (!ways) {
		log_error("no target: give -p PID, --all or -- COMMAND (jvmscope ps lists JVMs)");
		return -EINVAL;
	}
	if (ways > 1) {
		log_error("more than one kind of target: give only one of -p, --all and "
			  "-- COMMAND");
		return -EINVAL;
	}
	return 0;
}

static int check(enum option_command command, const struct options *options)
{
	int err;

	if (options->quiet && options->verbose) {
		log_error("-q and -v: give only one of them");
		return -EINVAL;
	}
	if (command == OPTION_RECORD) {
		err = check_record_targets(options);
		return err ? err : outputs_check_formats(options);
	}
	if (command & (OPTION_TRIE | OPTION_CONVERT))
		return 0;
	if (command != OPTION_OTHER && options->operand_count) {
		log_error("%s: unexpected argument (" HELP_HINT ")", options->operands[0]);
		return -EINVAL;
	}
	return 0;
}

int options_parse(enum option_command command, int argc, char **argv, struct options *out)
{
	struct options options = {
		.events = OPTIONS_EVENTS_DEFAULT,
		.max_overhead = OPTIONS_OVERHEAD_DEFAULT,
		.frequency = OPTIONS_HZ_DEFAULT,
		.max_depth = 1024,
		.ring_bytes = 8ull << 20,
		.chunk_ns = OPTIONS_CHUNK_DEFAULT_NS,
	};
	int err;

	err = read_options(command, argc, argv, &options);
	if (err)
		return err;

	if (optind < argc && !strcmp(argv[optind - 1], "--") && command == OPTION_RECORD) {
		options.command = argv + optind;
	} else {
		options.operands = argv + optind;
		options.operand_count = (size_t)(argc - optind);
	}
	if (!options.help && !options.version) {
		err = check(command, &options);
		if (err)
			return err;
	}
	*out = options;
	return 0;
}
