/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "exporters/exporter.h"
#include "model/recording.h"
#include "unit/unit.h"

#define WHEN 1700000000 /* 2023-11-14 22:13:20 UTC */

static char folder[] = "/tmp/jvmscope-unit-XXXXXX";
static struct recording *rec;

static void setup(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
	log_set_level(LOG_LEVEL_ERROR);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ASSERT_INT(system(command), 0);
	rec_free(rec);
	log_set_level(LOG_LEVEL_INFO);
}

static const char *in_folder(const char *name, char to[128])
{
	snprintf(to, 128, "%s/%s", folder, name);
	return to;
}

/* The lines that the failures log would be noise among the results. */
static int quietly(int (*call)(void))
{
	int saved = dup(STDERR_FILENO);
	int result;

	CU_ASSERT_PTR_NOT_NULL_FATAL(freopen("/dev/null", "w", stderr));
	result = call();
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	return result;
}

static struct outputs outputs;

static int check_paths(void)
{
	return outputs_check_paths(&outputs);
}

static int write_files(void)
{
	return outputs_write(&outputs, rec);
}

static size_t files_in_folder(void)
{
	char command[64];
	char line[16] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", folder);
	pipe = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(line, sizeof(line), pipe));
	pclose(pipe);
	return (size_t)strtoul(line, NULL, 10);
}

static void expands_pid_and_time(void)
{
	static const struct {
		const char *pattern;
		const char *expected;
	} cases[] = {
		{ "a.json", "a.json" },
		{ "jvmscope-%p-%t.json", "jvmscope-42-20231114-221320.json" },
		{ "%p%p", "4242" },
		{ "100%%p", "100%p" },
		{ "%", "%" },
		{ "a%x%", "a%x%" },
		{ "", "" },
	};
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_INT(outputs_expand(cases[i].pattern, "42", WHEN, path, sizeof(path)), 0);
		CU_ASSERT_STRING_EQUAL(path, cases[i].expected);
	}
	ASSERT_INT(outputs_expand("%t", "42", WHEN, path, 15), -ENAMETOOLONG);
	ASSERT_INT(outputs_expand("%t", "42", WHEN, path, 16), 0);
}

static void names_several_targets(void)
{
	struct options options = { .pids = { 7, 8, 9 }, .pid_count = 3 };
	char text[32];

	CU_ASSERT_STRING_EQUAL(outputs_pid_text(&options, 7, text, sizeof(text)), "7+2");
	options.pid_count = 1;
	CU_ASSERT_STRING_EQUAL(outputs_pid_text(&options, 7, text, sizeof(text)), "7");
	options = (struct options){ .all = true };
	CU_ASSERT_STRING_EQUAL(outputs_pid_text(&options, 0, text, sizeof(text)), "all");
}

/* --format decides for one file; with several it is for those whose suffix says nothing. */
static void finds_the_format(void)
{
	static const struct {
		const char *files[2];
		const char *format;
		const char *expected[2];
	} cases[] = {
		{ { "a.json" }, NULL, { "json" } },
		{ { "a.collapsed" }, NULL, { "collapsed" } },
		{ { "a.txt" }, NULL, { NULL } },
		{ { "a.txt" }, "collapsed", { "collapsed" } },
		{ { "a.json" }, "collapsed", { "collapsed" } },
		{ { "-" }, NULL, { NULL } },
		{ { "-" }, "json", { "json" } },
		{ { "a.json", "-" }, "collapsed", { "json", "collapsed" } },
		{ { "a.json", "b.collapsed" }, NULL, { "json", "collapsed" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct options options = { .files = { cases[i].files[0], cases[i].files[1] } };

		options.file_count = cases[i].files[1] ? 2 : 1;
		options.format = cases[i].format ? exporter_by_name(cases[i].format) : NULL;
		for (size_t n = 0; n < options.file_count; n++) {
			const struct exporter *found = outputs_format(&options, n);

			CU_ASSERT_EQUAL(found == NULL, cases[i].expected[n] == NULL);
			if (found && cases[i].expected[n])
				CU_ASSERT_STRING_EQUAL(found->name, cases[i].expected[n]);
		}
	}
}

static void refuses_folders_that_cannot_be_written(void)
{
	char path[128];
	struct options options = { .files = { path }, .file_count = 1 };

	outputs = (struct outputs){ .options = &options, .pid = "42", .when = WHEN };
	in_folder("none/a.json", path);
	ASSERT_INT(quietly(check_paths), -ENOENT);
	snprintf(path, sizeof(path), "%s", folder);
	ASSERT_INT(quietly(check_paths), -EISDIR);
	snprintf(path, sizeof(path), "/dev/null/a.json");
	ASSERT_INT(quietly(check_paths), -ENOTDIR);
	in_folder("a-%p.json", path);
	ASSERT_INT(quietly(check_paths), 0);
	snprintf(path, sizeof(path), "/dev/full");
	ASSERT_INT(quietly(check_paths), 0);
	snprintf(path, sizeof(path), "-");
	ASSERT_INT(quietly(check_paths), 0);
}

static void refuses_one_file_for_two_outputs(void)
{
	char first[128];
	char second[160];
	struct options options = { .files = { first, second }, .file_count = 2 };

	outputs = (struct outputs){ .options = &options, .pid = "42", .when = WHEN };
	in_folder("a-%p.json", first);
	in_folder("a-42.json", second);
	ASSERT_INT(quietly(check_paths), -EEXIST);
	snprintf(second, sizeof(second), "%s/.//a-%%p.json", folder);
	ASSERT_INT(quietly(check_paths), -EEXIST);
	in_folder("a-43.json", second);
	ASSERT_INT(quietly(check_paths), 0);
	/* A file called "-" is not standard output. */
	snprintf(first, sizeof(first), "-");
	snprintf(second, sizeof(second), "./-");
	ASSERT_INT(quietly(check_paths), 0);
	snprintf(second, sizeof(second), "/dev/./null");
	snprintf(first, sizeof(first), "/dev/full");
	ASSERT_INT(quietly(check_paths), 0);
}

static void writes_all_files_and_no_other(void)
{
	char json[128];
	char collapsed[128];
	struct options options = {
		.files = { in_folder("a-%p.json", json), in_folder("b.collapsed", collapsed) },
		.file_count = 2,
	};
	struct stat st;

	outputs = (struct outputs){ .options = &options, .pid = "42", .when = WHEN };
	ASSERT_INT(outputs_write(&outputs, rec), 0);
	ASSERT_INT(files_in_folder(), 2);
	in_folder("a-42.json", json);
	ASSERT_INT(stat(json, &st), 0);
	CU_ASSERT(st.st_size > 0);
}

static void a_full_disk_fails_and_the_others_are_written(void)
{
	char json[128];
	struct options options = {
		.files = { "/dev/full", in_folder("a.json", json) },
		.file_count = 2,
		.format = exporter_by_name("json"),
	};
	struct stat st;

	outputs = (struct outputs){ .options = &options, .pid = "42", .when = WHEN };
	ASSERT_INT(quietly(write_files), -ENOSPC);
	ASSERT_INT(files_in_folder(), 1);
	ASSERT_INT(stat(json, &st), 0);
}

static CU_TestInfo tests[] = {
	{ "expands pid and time", expands_pid_and_time },
	{ "names several targets", names_several_targets },
	{ "finds the format", finds_the_format },
	{ "refuses folders that cannot be written", refuses_folders_that_cannot_be_written },
	{ "refuses one file for two outputs", refuses_one_file_for_two_outputs },
	{ "writes all files and no other", writes_all_files_and_no_other },
	{ "a full disk fails and the others are written",
	  a_full_disk_fails_and_the_others_are_written },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_outputs_suite = {
	.pName = "outputs",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
