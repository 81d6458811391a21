/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "unit/unit.h"

#define ARGS_MAX 16

static struct options options;
static char said[1024]; /* standard error of the last parse() */
static char words[512];
static char *argv[ARGS_MAX + 1];

/* Parses "record -p 1 ...", split at blanks, and keeps what was said. */
static int parse(enum option_command command, const char *line)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	int argc = 0;
	size_t len;
	int err;

	snprintf(words, sizeof(words), "%s", line);
	for (char *word = strtok(words, " "); word && argc < ARGS_MAX; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;

	options = (struct options){ 0 };
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	err = options_parse(command, argc, argv, &options);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	len = fread(said, 1, sizeof(said) - 1, file);
	said[len] = 0;
	fclose(file);
	return err;
}

static void reads_every_option_of_record(void)
{
	static const struct {
		const char *line;
		size_t pids;
		uint64_t duration_ns;
		uint32_t frequency;
		uint32_t max_depth;
		uint64_t ring_bytes;
		enum live_clock clock;
	} cases[] = {
		{ "record -p 1", 1, 0, 99, 1024, 8 << 20, LIVE_CLOCK_AUTO },
		{ "record -p 1,2 -p 3", 3, 0, 99, 1024, 8 << 20, LIVE_CLOCK_AUTO },
		{ "record -p 7 -p 7,7", 1, 0, 99, 1024, 8 << 20, LIVE_CLOCK_AUTO },
		{ "record --pid=1 -d 30", 1, 30000000000, 99, 1024, 8 << 20, LIVE_CLOCK_AUTO },
		{ "record -p1 -d5m", 1, 300000000000, 99, 1024, 8 << 20, LIVE_CLOCK_AUTO },
		{ "record -p1 --duration 1h", 1, 3600000000000, 99, 1024, 8 << 20,
		  LIVE_CLOCK_AUTO },
		{ "record -p1 -F 997 --max-depth 8192", 1, 0, 997, 8192, 8 << 20, LIVE_CLOCK_AUTO },
		{ "record -p1 --ring-size 1M --cpu-event cpu-clock", 1, 0, 99, 1024, 1 << 20,
		  LIVE_CLOCK_CPU },
		{ "record -p1 --cpu-event cycles", 1, 0, 99, 1024, 8 << 20, LIVE_CLOCK_CYCLES },
		{ "record -p1 --cpu-event auto", 1, 0, 99, 1024, 8 << 20, LIVE_CLOCK_AUTO },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_INT(parse(OPTION_RECORD, cases[i].line), 0);
		CU_ASSERT_STRING_EQUAL(said, "");
		ASSERT_INT(options.pid_count, cases[i].pids);
		ASSERT_INT(options.duration_ns, cases[i].duration_ns);
		ASSERT_INT(options.frequency, cases[i].frequency);
		ASSERT_INT(options.max_depth, cases[i].max_depth);
		ASSERT_INT(options.ring_bytes, cases[i].ring_bytes);
		ASSERT_INT(options.clock, cases[i].clock);
		ASSERT_INT(options.events, LIVE_EVENT_CPU | LIVE_EVENT_NATIVE | LIVE_EVENT_CLASS |
						   LIVE_EVENT_GC | LIVE_EVENT_SAFEPOINT |
						   LIVE_EVENT_LOCK | LIVE_EVENT_THREAD |
						   LIVE_EVENT_ALLOC | LIVE_EVENT_COUNTER);
	}
}

static void reads_flags_and_files(void)
{
	ASSERT_INT(parse(OPTION_RECORD,
			 "record --all -f a.json -f b.collapsed --threads --lines --annotate "
			 "--strict --no-progress -q --color never"),
		   0);
	CU_ASSERT(options.all && options.threads && options.lines && options.annotate);
	CU_ASSERT(options.strict && options.no_progress && options.quiet && !options.verbose);
	ASSERT_INT(options.color, COLOR_NEVER);
	ASSERT_INT(options.file_count, 2);
	CU_ASSERT_STRING_EQUAL(options.files[1], "b.collapsed");
}

static void warns_of_options_without_effect(void)
{
	static const struct {
		const char *line;
		const char *unused; /* NULL: all have one */
	} cases[] = {
		{ "record -p 1 -f a.json --threads", "--threads" },
		{ "record -p 1 -f a.json -f b.jfr --lines", "--lines" },
		{ "record -p 1 --annotate", "--annotate" },
		{ "record -p 1 --metric native_live", "--metric" },
		{ "record -p 1 -f a.collapsed --chunk 1s", "--chunk" },
		{ "record -p 1 -f a.json --max-size 1M", "--max-size" },
		{ "record -p 1 --format json --max-age 1h", "--max-age" },
		{ "record -p 1 -f a.json -f b.collapsed --threads --lines --annotate", NULL },
		{ "record -p 1 --format collapsed --metric native_live --lines", NULL },
		{ "record -p 1 --chunk 1s --max-size 1M --max-age 1h", NULL },
		{ "record -p 1 -f a.json -f b.jfr --chunk 1s --max-age 1h", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_INT(parse(OPTION_RECORD, cases[i].line), 0);
		CU_ASSERT(cases[i].unused ? !!strstr(said, cases[i].unused) : !*said);
	}
}

static void reads_how_rules_are_applied(void)
{
	static const struct {
		const char *line;
		const char *trie;
		enum filter_mode filter;
	} cases[] = {
		{ "record -p 1", NULL, FILTER_MARK },
		{ "record -p 1 --trie none", "none", FILTER_MARK },
		{ "record -p 1 --trie my.trie --filter mark", "my.trie", FILTER_MARK },
		{ "record -p 1 --filter fold", NULL, FILTER_FOLD },
		{ "record -p 1 --filter=drop", NULL, FILTER_DROP },
		{ "record -p 1 --filter off", NULL, FILTER_OFF },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_INT(parse(OPTION_RECORD, cases[i].line), 0);
		ASSERT_INT(options.filter, cases[i].filter);
		if (cases[i].trie)
			CU_ASSERT_STRING_EQUAL(options.trie, cases[i].trie);
		ASSERT_INT(options.trie != NULL, cases[i].trie != NULL);
	}
}

static void options_of_trie_stand_anywhere(void)
{
	ASSERT_INT(parse(OPTION_TRIE, "trie lookup --from 3 f.trie --escaped a.B -- -c -o"), 0);
	ASSERT_INT(options.from, 3);
	CU_ASSERT(options.escaped);
	ASSERT_INT(options.operand_count, 5);
	CU_ASSERT_STRING_EQUAL(options.operands[0], "lookup");
	CU_ASSERT_STRING_EQUAL(options.operands[2], "a.B");
	CU_ASSERT_STRING_EQUAL(options.operands[4], "-o");
	ASSERT_INT(parse(OPTION_TRIE, "trie build f.trie -o out.java --name a.B --format java"), 0);
	CU_ASSERT_STRING_EQUAL(options.output, "out.java");
	CU_ASSERT_STRING_EQUAL(options.form, "java");
	CU_ASSERT_STRING_EQUAL(options.name, "a.B");
	ASSERT_INT(options.operand_count, 2);
}

static void leaves_the_command_alone(void)
{
	ASSERT_INT(parse(OPTION_RECORD, "record -d 5 -- java -d 7 -p x Main"), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(options.command);
	CU_ASSERT_STRING_EQUAL(options.command[0], "java");
	CU_ASSERT_STRING_EQUAL(options.command[5], "Main");
	CU_ASSERT_PTR_NULL(options.command[6]);
	ASSERT_INT(options.duration_ns, 5000000000);
	ASSERT_INT(options.pid_count, 0);
}

static void takes_events_away_from_the_default(void)
{
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e cpu"), 0);
	ASSERT_INT(options.events, LIVE_EVENT_CPU);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e all"), 0);
	ASSERT_INT(options.events, LIVE_EVENT_CPU | LIVE_EVENT_OFFCPU | LIVE_EVENT_NATIVE |
					   LIVE_EVENT_CLASS | LIVE_EVENT_VM | LIVE_EVENT_COUNTER);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e -native,-gc"), 0);
	ASSERT_INT(options.events, LIVE_EVENT_CPU | LIVE_EVENT_CLASS | LIVE_EVENT_SAFEPOINT |
					   LIVE_EVENT_LOCK | LIVE_EVENT_THREAD | LIVE_EVENT_ALLOC |
					   LIVE_EVENT_COUNTER);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e -all"), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "-e -all: nothing is left to record"));
}

static void knows_the_memory_of_libc_as_a_part_of_native(void)
{
	char text[OPTIONS_EVENTS_TEXT];

	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e cpu,native=libc,class"), 0);
	CU_ASSERT_STRING_EQUAL(options_events_text(options.events, text, sizeof(text)),
			       "cpu,native=libc,class");
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e native=libc,cpu,-native"), 0);
	CU_ASSERT_STRING_EQUAL(options_events_text(options.events, text, sizeof(text)), "cpu");
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e native"), 0);
	CU_ASSERT_STRING_EQUAL(options_events_text(options.events, text, sizeof(text)), "native");
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e nativ"), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "-e nativ: no event 'nativ' (there is cpu offcpu "));
}

static void reads_the_budget_of_probes(void)
{
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1"), 0);
	CU_ASSERT_EQUAL(options.max_overhead, 2);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --max-overhead none"), 0);
	CU_ASSERT_EQUAL(options.max_overhead, 0);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --max-overhead 0.5%"), 0);
	CU_ASSERT_EQUAL(options.max_overhead, 0.5);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --max-overhead 0"), -EINVAL);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --max-overhead nan"), -EINVAL);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --max-overhead +5"), -EINVAL);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --max-overhead 0x5"), -EINVAL);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --max-overhead 5%%"), -EINVAL);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --max-overhead %"), -EINVAL);
}

static void reads_how_many_blocks_are_followed(void)
{
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1"), 0);
	ASSERT_INT(options.live_blocks, 0);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --live-blocks 4096"), 0);
	ASSERT_INT(options.live_blocks, 4096);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --live-blocks 1000"), -EINVAL);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --native-sites 2048"), 0);
	ASSERT_INT(options.sites, 2048);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --native-sites 63"), -EINVAL);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --native-sites 1048577"), -EINVAL);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --live-blocks 16777217"), -EINVAL);
}

/* What is expected names all that is taken. */
static void every_metric_has_a_name(void)
{
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1"), 0);
	ASSERT_INT(options.metric, REC_CPU);
	for (int metric = 0; metric < REC_METRIC_NR; metric++) {
		const char *name = rec_metric_info((enum rec_metric)metric)->name;
		char line[64];

		snprintf(line, sizeof(line), "convert in.jfr -o out.json --metric %s", name);
		ASSERT_INT(parse(OPTION_CONVERT, line), 0);
		ASSERT_INT(options.metric, metric);
		ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --metric heap"), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(said, name));
	}
}

static void help_and_version_need_no_target(void)
{
	static const char *const lines[] = { "record --help", "record -h", "record -d 5 --help" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		ASSERT_INT(parse(OPTION_RECORD, lines[i]), 0);
		CU_ASSERT(options.help);
	}
	ASSERT_INT(parse(OPTION_PS, "ps --version"), 0);
	CU_ASSERT(options.version);
}

static void keeps_the_topic_of_help(void)
{
	ASSERT_INT(parse(OPTION_OTHER, "help record"), 0);
	ASSERT_INT(options.operand_count, 1);
	CU_ASSERT_STRING_EQUAL(options.operands[0], "record");
}

static void says_what_is_wrong_in_one_line(void)
{
	static const struct {
		enum option_command command;
		const char *line;
		const char *message;
	} cases[] = {
		{ OPTION_RECORD, "record", "no target: give -p PID, --all or -- COMMAND" },
		{ OPTION_RECORD, "record --", "no target: give" },
		{ OPTION_RECORD, "record 42", "42: unexpected argument (a pid follows -p" },
		{ OPTION_RECORD, "record -p 1 --all", "more than one kind of target" },
		{ OPTION_RECORD, "record -p 1 -- java", "more than one kind of target" },
		{ OPTION_RECORD, "record -p", "-p: needs an argument" },
		{ OPTION_RECORD, "record --pid", "--pid: needs an argument" },
		{ OPTION_RECORD, "record -p 0", "-p 0: expected pids above 0" },
		{ OPTION_RECORD, "record -p x", "-p x: expected pids above 0" },
		{ OPTION_RECORD, "record -p 1,,2", "-p 1,,2: expected pids" },
		{ OPTION_RECORD, "record -p 1 -d 0", "-d 0: expected a time above 0" },
		{ OPTION_RECORD, "record -p 1 -d 5x", "-d 5x: expected a time above 0" },
		{ OPTION_RECORD, "record -p 1 -d -5", "-d -5: expected a time above 0" },
		{ OPTION_RECORD, "record -p 1 -F 0", "-F 0: expected a whole number from 1" },
		{ OPTION_RECORD, "record -p 1 -F 10001", "-F 10001: expected a whole number" },
		{ OPTION_RECORD, "record -p 1 --max-depth 63", "--max-depth 63: expected a" },
		{ OPTION_RECORD, "record -p 1 --max-depth 16385", "from 64 to 16384" },
		{ OPTION_RECORD, "record -p 1 --ring-size 1k", "--ring-size 1k: expected a size" },
		{ OPTION_RECORD, "record -p 1 --ring-size 2G", "--ring-size 2G: expected a size" },
		{ OPTION_RECORD, "record -p 1 --ring-size big", "--ring-size big: expected a" },
		{ OPTION_RECORD, "record -p 1 --cpu-event x",
		  "expected auto, cycles or cpu-clock" },
		{ OPTION_RECORD, "record -p 1 --color x", "expected auto, always or never" },
		{ OPTION_RECORD, "record -p 1 -e iq", "-e iq: no event 'iq'" },
		{ OPTION_RECORD, "record -p 1 -e cpu,-iq", "no event 'iq' (there is cpu offcpu" },
		{ OPTION_RECORD, "record -p 1 -e cpu,", "no event ''" },
		{ OPTION_RECORD, "record -p 1 --format svg", "--format svg: no such format" },
		{ OPTION_RECORD, "record -p 1 -f x.svg", "-f x.svg: the suffix names no format" },
		{ OPTION_RECORD, "record -p 1 -f -", "-f -: standard output needs --format" },
		{ OPTION_RECORD, "record -p 1 -f - --format jfr --max-size 1M", "need a file" },
		{ OPTION_RECORD, "record -p 1 -e cpu --metric native_live -f x.collapsed",
		  "--metric native_live: is not recorded without -e native\n" },
		{ OPTION_RECORD, "record -p 1 -e class -f x.json -f x.collapsed",
		  "--metric cpu: is not recorded without -e cpu\n" },
		{ OPTION_RECORD, "record -p 1 -e -class --metric class_load --format collapsed",
		  "--metric class_load: is not recorded without -e class\n" },
		{ OPTION_RECORD, "record -p 1 --chunk 50ms", "--chunk 50ms: expected a time from" },
		{ OPTION_RECORD, "record -p 1 --chunk 2h", "--chunk 2h: expected a time from" },
		{ OPTION_RECORD, "record -p 1 --max-size 4k",
		  "--max-size 4k: expected a size from" },
		{ OPTION_RECORD, "record -p 1 --max-age 0",
		  "--max-age 0: expected a time above 0" },
		{ OPTION_RECORD, "record -p 1 -f - -f - --format json", "only once" },
		{ OPTION_RECORD, "record -p 1 -e cpu -f x.nmt.txt", "add native to -e" },
		{ OPTION_RECORD, "record -p 1 --format nmt -e class", "add native to -e" },
		{ OPTION_RECORD, "record -p 1 -q -v", "-q and -v: give only one" },
		{ OPTION_RECORD, "record -p 1 --json", "--json: not an option of this command" },
		{ OPTION_RECORD, "record -p 1 --filter", "--filter: needs an argument" },
		{ OPTION_RECORD, "record -p 1 --filter x",
		  "--filter x: expected mark, fold, drop or off" },
		{ OPTION_RECORD, "record -p 1 --trie=", "--trie : expected a file of rules" },
		{ OPTION_RECORD, "record -p 1 --gates", "--gates: unknown option" },
		{ OPTION_RECORD, "record --all -qX", "-X: unknown option" },
		{ OPTION_TRIE, "trie build x --gates y", "--gates: unknown option" },
		{ OPTION_TRIE, "trie build x -o", "-o: needs an argument" },
		{ OPTION_TRIE, "trie build x --all y", "--all: not an option of this command" },
		{ OPTION_TRIE, "trie lookup x y --from -1", "--from -1: expected a whole number" },
		{ OPTION_TRIE, "trie build x --format xml", "expected text, binary, c or java" },
		{ OPTION_RECORD, "record -p 1 -X", "-X: unknown option" },
		{ OPTION_RECORD, "record -qX", "-X: unknown option" },
		{ OPTION_PS, "ps -qF", "-F: not an option of this command" },
		{ OPTION_RECORD, "record --all=yes", "--all=yes: takes no argument" },
		{ OPTION_PS, "ps -p 1", "-p: not an option of this command" },
		{ OPTION_PS, "ps 1", "1: unexpected argument" },
		{ OPTION_DOCTOR, "doctor x", "x: unexpected argument" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_INT(parse(cases[i].command, cases[i].line), -EINVAL);
		if (!strstr(said, cases[i].message))
			fprintf(stderr, "%s: %s", cases[i].line, said);
		CU_ASSERT_PTR_NOT_NULL(strstr(said, cases[i].message));
		CU_ASSERT_PTR_EQUAL(strchr(said, '\n'), said + strlen(said) - 1);
		ASSERT_INT(strncmp(said, "jvmscope: ", 10), 0);
	}
}

/* Only collapsed stacks are of one metric. */
static void a_metric_needs_its_events(void)
{
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e cpu --metric native_live -f x.jfr"), 0);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e class -f x.json"), 0);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 --metric native_live -f x.collapsed"), 0);
	ASSERT_INT(parse(OPTION_RECORD, "record -p 1 -e class --metric class_load -f x.collapsed"),
		   0);
}

static void refuses_too_many_pids_and_files(void)
{
	char line[512] = "record -p 1";

	for (int i = 2; i <= OPTIONS_PIDS_MAX; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), ",%d", i);
	ASSERT_INT(parse(OPTION_RECORD, line), 0);
	ASSERT_INT(options.pid_count, OPTIONS_PIDS_MAX);
	strcat(line, " -p 999");
	ASSERT_INT(parse(OPTION_RECORD, line), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "at most 64"));
}

static void gives_every_option_a_help_line(void)
{
	struct option_text text;
	size_t n = 0;

	for (; options_text(OPTION_RECORD, n, &text); n++)
		CU_ASSERT(text.name && text.help && *text.help);
	CU_ASSERT(n > 10);
	CU_ASSERT_FALSE(options_text(OPTION_RECORD, n, &text));
	CU_ASSERT(options_text(OPTION_PS, 0, &text));
	CU_ASSERT_STRING_EQUAL(text.name, "json");
}

static CU_TestInfo tests[] = {
	{ "reads every option of record", reads_every_option_of_record },
	{ "reads flags and files", reads_flags_and_files },
	{ "warns of options without effect", warns_of_options_without_effect },
	{ "reads how rules are applied", reads_how_rules_are_applied },
	{ "options of trie stand anywhere", options_of_trie_stand_anywhere },
	{ "leaves the command alone", leaves_the_command_alone },
	{ "takes events away from the default", takes_events_away_from_the_default },
	{ "knows the memory of libc as a part of native",
	  knows_the_memory_of_libc_as_a_part_of_native },
	{ "reads the budget of probes", reads_the_budget_of_probes },
	{ "reads how many blocks are followed", reads_how_many_blocks_are_followed },
	{ "every metric has a name", every_metric_has_a_name },
	{ "help and version need no target", help_and_version_need_no_target },
	{ "keeps the topic of help", keeps_the_topic_of_help },
	{ "says what is wrong in one line", says_what_is_wrong_in_one_line },
	{ "a metric needs its events", a_metric_needs_its_events },
	{ "refuses too many pids and files", refuses_too_many_pids_and_files },
	{ "gives every option a help line", gives_every_option_a_help_line },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_options_suite = {
	.pName = "options",
	.pTests = tests,
};
