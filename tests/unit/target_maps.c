/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/maps.h"
#include "unit/unit.h"

static struct maps maps;

static void setup(void)
{
	maps = (struct maps){ 0 };
}

static void teardown(void)
{
	maps_free(&maps);
}

static int parse(const char *text)
{
	return maps_parse(strdup(text), &maps);
}

static void reads_every_column(void)
{
	ASSERT_INT(parse("55d0c0000000-55d0c0002000 r-xp 00001000 fd:02 1234567  "
			 "                  /usr/bin/java\n"),
		   0);
	ASSERT_INT(maps.count, 1);
	ASSERT_INT(maps.items[0].start, 0x55d0c0000000);
	ASSERT_INT(maps.items[0].end, 0x55d0c0002000);
	ASSERT_INT(maps.items[0].offset, 0x1000);
	ASSERT_INT(maps.items[0].device, 0xfdull << 32 | 2);
	ASSERT_INT(maps.items[0].inode, 1234567);
	CU_ASSERT_TRUE(maps.items[0].readable);
	CU_ASSERT_TRUE(maps.items[0].executable);
	CU_ASSERT_FALSE(maps.items[0].deleted);
	CU_ASSERT_STRING_EQUAL(maps.items[0].path, "/usr/bin/java");
}

static void reads_odd_paths(void)
{
	static const struct {
		const char *column;
		const char *path;
		bool deleted;
	} cases[] = {
		{ "", "", false },
		{ " ", "", false },
		{ "    [vdso]", "[vdso]", false },
		{ " [anon:a b]", "[anon:a b]", false },
		{ "   /a b/c", "/a b/c", false },
		{ "   /lib/libjvm.so (deleted)", "/lib/libjvm.so", true },
		{ "   /a\\012b", "/a\nb", false },
		{ "   /\\012\\012 (deleted)", "/\n\n", true },
		{ "   /a\\013", "/a\\013", false },
		{ "   /memfd:x (deleted)", "/memfd:x", true },
		{ " (deleted)", "(deleted)", false },
		{ "   / (deleted)", "/", true },
	};
	char line[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(line, sizeof(line), "1000-2000 rw-p 00000000 00:00 7%s\n",
			 cases[i].column);
		ASSERT_INT(parse(line), 0);
		CU_ASSERT_STRING_EQUAL(maps.items[0].path, cases[i].path);
		CU_ASSERT_EQUAL(maps.items[0].deleted, cases[i].deleted);
		maps_free(&maps);
	}
}

static void reads_a_path_of_any_length(void)
{
	size_t size = 200000;
	char *text = malloc(size + 64);
	int len = snprintf(text, 64, "1000-2000 r--p 00000000 00:00 7 /");

	memset(text + len, 'x', size);
	strcpy(text + len + size, "\n");
	ASSERT_INT(maps_parse(text, &maps), 0);
	ASSERT_INT(strlen(maps.items[0].path), size + 1);
}

static void rejects_damaged_lines(void)
{
	static const char *const bad[] = {
		"x",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 r--p",
		"1000-2000 r--p 0",
		"1000-2000 r--p 0 00:00",
		"1000-2000 r--p 0 00:00 ",
		"1000-2000 r--p 0 00:00 x",
		"1000-2000 r--p 0 0000 7",
		"1000-2000 r-p 0 00:00 7",
		"2000-1000 r--p 0 00:00 7",
		"1000-1000 r--p 0 00:00 7",
		"-1000-2000 r--p 0 00:00 7",
		" 1000-2000 r--p 0 00:00 7",
		"10000000000000000-20000000000000000 r--p 0 00:00 7",
		"1000-2000 r--p 0 00:00 99999999999999999999999",
		"1000-2000 r--p 0 00:00 7\n\n3000-4000 r--p 0 00:00 7",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ASSERT_INT(parse(bad[i]), -EBADMSG);
		CU_ASSERT_PTR_NULL(maps.items);
	}
	ASSERT_INT(parse(""), 0);
	ASSERT_INT(maps.count, 0);
}

/* What reading page by page of a process that maps and unmaps can give. */
static void cuts_what_was_seen_before(void)
{
	ASSERT_INT(parse("1000-3000 r--p 00000000 00:00 7 /a\n"
			 "1000-3000 r--p 00000000 00:00 7 /a\n"
			 "2000-5000 r--p 00001000 00:00 7 /a\n"
			 "5000-6000 r--p 00000000 00:00 7 /b\n"),
		   0);
	ASSERT_INT(maps.count, 3);
	ASSERT_INT(maps.items[1].start, 0x3000);
	ASSERT_INT(maps.items[1].end, 0x5000);
	ASSERT_INT(maps.items[1].offset, 0x2000);
}

static void finds_by_address_and_name(void)
{
	ASSERT_INT(parse("1000-2000 r--p 00000000 00:00 7 /x/libjvm.so.old\n"
			 "2000-3000 r--p 00000000 00:00 7 /x/libjvm.so\n"
			 "5000-6000 r-xp 00000000 00:00 7 /x/libjvm.so\n"),
		   0);
	CU_ASSERT_PTR_NULL(maps_find(&maps, 0xfff));
	CU_ASSERT_PTR_EQUAL(maps_find(&maps, 0x1000), &maps.items[0]);
	CU_ASSERT_PTR_EQUAL(maps_find(&maps, 0x2fff), &maps.items[1]);
	CU_ASSERT_PTR_NULL(maps_find(&maps, 0x3000));
	CU_ASSERT_PTR_EQUAL(maps_find(&maps, 0x5fff), &maps.items[2]);
	CU_ASSERT_PTR_NULL(maps_find(&maps, 0x6000));
	CU_ASSERT_PTR_EQUAL(maps_find_file(&maps, "libjvm.so"), &maps.items[1]);
	CU_ASSERT_PTR_NULL(maps_find_file(&maps, "jvm.so"));
}

static void reads_this_process(void)
{
	const struct mapping *mapping;

	ASSERT_INT(maps_read(getpid(), &maps), 0);
	mapping = maps_find(&maps, (uint64_t)(uintptr_t)reads_this_process);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mapping);
	CU_ASSERT_TRUE(mapping->executable);
	CU_ASSERT_PTR_NOT_NULL(strstr(mapping->path, "/unit"));
}

static void says_when_there_is_no_process(void)
{
	ASSERT_INT(maps_read(0x3ffffff, &maps), -ESRCH);
}

static void finds_our_own_code_in_its_file(void)
{
	const void *code = (const void *)finds_our_own_code_in_its_file;
	uint8_t in_file[32] = { 0 };
	uint64_t offset = 0;
	int file;

	ASSERT_INT(maps_own_offset(code, &offset), 0);
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ASSERT_INT(pread(file, in_file, sizeof(in_file), (off_t)offset), sizeof(in_file));
	close(file);
	CU_ASSERT(memcmp(in_file, code, sizeof(in_file)) == 0);
	ASSERT_INT(maps_own_offset((const void *)8, &offset), -ENOENT);
}

static CU_TestInfo tests[] = {
	{ "reads every column", reads_every_column },
	{ "reads odd paths", reads_odd_paths },
	{ "reads a path of any length", reads_a_path_of_any_length },
	{ "rejects damaged lines", rejects_damaged_lines },
	{ "cuts what was seen before", cuts_what_was_seen_before },
	{ "finds by address and name", finds_by_address_and_name },
	{ "reads this process", reads_this_process },
	{ "says when there is no process", says_when_there_is_no_process },
	{ "finds our own code in its file", finds_our_own_code_in_its_file },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_maps_suite = {
	.pName = "maps",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
