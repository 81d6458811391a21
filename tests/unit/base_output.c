/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "unit/unit.h"

static char folder[64];
static char path[128];
static struct output out;

static void setup(void)
{
	strcpy(folder, "/tmp/jvmscope-output-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	out = (struct output){ 0 };
}

static void teardown(void)
{
	unlink(path);
	ASSERT_INT(rmdir(folder), 0);
}

static size_t count_files(void)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

static void assert_content(const char *expected)
{
	char text[64] = "";
	FILE *file = fopen(path, "re");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	CU_ASSERT_STRING_EQUAL_FATAL(text, expected);
}

static void the_name_appears_when_complete(void)
{
	ASSERT_INT(output_open(path, &out), 0);
	fputs("text", out.file);
	ASSERT_INT(access(path, F_OK), -1);
	ASSERT_INT(output_commit(&out), 0);
	assert_content("text");
	ASSERT_INT(count_files(), 1);
	output_abort(&out);
	assert_content("text");
}

static void an_old_file_stays_until_the_end(void)
{
	the_name_appears_when_complete();
	ASSERT_INT(output_open(path, &out), 0);
	fputs("new", out.file);
	fflush(out.file);
	assert_content("text");
	output_abort(&out);
	assert_content("text");
	ASSERT_INT(count_files(), 1);

	ASSERT_INT(output_open(path, &out), 0);
	fputs("new", out.file);
	ASSERT_INT(output_commit(&out), 0);
	assert_content("new");
}

static void abort_leaves_nothing(void)
{
	ASSERT_INT(output_open(path, &out), 0);
	fputs("text", out.file);
	output_abort(&out);
	ASSERT_INT(count_files(), 0);
	output_abort(&out);
}

static void a_full_disk_is_noticed_at_the_end(void)
{
	ASSERT_INT(output_open("/dev/full", &out), 0);
	fputs("text", out.file);
	ASSERT_INT(output_commit(&out), -ENOSPC);
	CU_ASSERT_PTR_NULL(out.file);
	ASSERT_INT(access("/dev/full", F_OK), 0);
}

static void an_early_write_error_is_not_forgotten(void)
{
	char block[BUFSIZ * 2];

	memset(block, 'x', sizeof(block));
	ASSERT_INT(output_open("/dev/full", &out), 0);
	fwrite(block, 1, sizeof(block), out.file);
	CU_ASSERT(output_commit(&out) < 0);
}

static void a_link_is_written_through(void)
{
	char link[160];
	struct stat found;

	the_name_appears_when_complete();
	snprintf(link, sizeof(link), "%s/link", folder);
	ASSERT_INT(symlink("file", link), 0);
	ASSERT_INT(output_open(link, &out), 0);
	fputs("through", out.file);
	ASSERT_INT(output_commit(&out), 0);
	assert_content("through");
	ASSERT_INT(lstat(link, &found), 0);
	ASSERT_INT(S_ISLNK(found.st_mode), 1);
	ASSERT_INT(unlink(link), 0);
}

static void bad_paths_are_errors(void)
{
	char missing[160];

	snprintf(missing, sizeof(missing), "%s/no/file", folder);
	ASSERT_INT(output_open(missing, &out), -ENOENT);
	ASSERT_INT(output_open(folder, &out), -EISDIR);
	CU_ASSERT_PTR_NULL(out.path);
	ASSERT_INT(count_files(), 0);
}

static void standard_output_stays_open(void)
{
	ASSERT_INT(output_open("-", &out), 0);
	CU_ASSERT_PTR_EQUAL(out.file, stdout);
	ASSERT_INT(output_commit(&out), 0);
	ASSERT_INT(output_open("-", &out), 0);
	output_abort(&out);
	CU_ASSERT(fileno(stdout) >= 0);
	ASSERT_INT(fflush(stdout), 0);
}

static CU_TestInfo tests[] = {
	{ "the name appears when complete", the_name_appears_when_complete },
	{ "an old file stays until the end", an_old_file_stays_until_the_end },
	{ "abort leaves nothing", abort_leaves_nothing },
	{ "a full disk is noticed at the end", a_full_disk_is_noticed_at_the_end },
	{ "an early write error is not forgotten", an_early_write_error_is_not_forgotten },
	{ "a link is written through", a_link_is_written_through },
	{ "bad paths are errors", bad_paths_are_errors },
	{ "standard output stays open", standard_output_stays_open },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo base_output_suite = {
	.pName = "output",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
