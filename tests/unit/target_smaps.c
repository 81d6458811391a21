/* SPDX-License-Identifier: Apache-2.0 */
#include "target/smaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/pagemap.h"
#include "target/target.h"
#include "unit/unit.h"

#define PAGES 8u

static struct smaps smaps;
static struct target *t;
static uint8_t *memory; /* PAGES of them, none present */

static void setup(void)
{
	smaps = (struct smaps){ 0 };
	t = NULL;
	memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	CU_ASSERT_FATAL(memory != MAP_FAILED);
	/* With huge pages all of them would be there at once. */
	madvise(memory, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
}

static void teardown(void)
{
	smaps_free(&smaps);
	target_close(t);
	munmap(memory, PAGES * PAGE_BYTES);
}

static int parse(const char *text)
{
	return smaps_parse(strdup(text), &smaps);
}

static void reads_numbers_of_each_mapping(void)
{
	ASSERT_INT(
		parse("1000-3000 rw-p 00000000 00:00 0                 [heap]\n"
		      "Size:                  8 kB\n"
		      "KernelPageSize:        4 kB\n"
		      "Rss:                   4 kB\n"
		      "Pss:                   2 kB\n"
		      "Pss_Dirty:            99 kB\n"
		      "Swap:                 12 kB\n"
		      "SwapPss:              77 kB\n"
		      "VmFlags: rd wr mr mw me ac\n"
		      "200000-400000 r--p 00000000 00:10 5                 /huge page: Rss: 7 kB\n"
		      "KernelPageSize:     2048 kB\n"
		      "Rss:                   0 kB\n"
		      "Shared_Hugetlb:     2048 kB\n"
		      "Private_Hugetlb:    4096 kB"),
		0);
	ASSERT_INT(smaps.maps.count, 2);
	CU_ASSERT_STRING_EQUAL(smaps.maps.items[0].path, "[heap]");
	CU_ASSERT_STRING_EQUAL(smaps.maps.items[1].path, "/huge page: Rss: 7 kB");
	ASSERT_INT(smaps.items[0].rss, 4096);
	ASSERT_INT(smaps.items[0].pss, 2048);
	ASSERT_INT(smaps.items[0].swap, 12288);
	ASSERT_INT(smaps.items[0].page_size, 4096);
	CU_ASSERT_TRUE(smaps.items[0].writable);
	ASSERT_INT(smaps.items[1].rss, 0);
	ASSERT_INT(smaps.items[1].hugetlb, 6144 * 1024);
	CU_ASSERT_FALSE(smaps.items[1].writable);
}

static void refuses_what_makes_no_sense(void)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{ "", 0 },
		{ "Rss: 4 kB\n", -EBADMSG },
		{ "1000-3000 rw-p 00000000 00:00 0 \nRss: kB\n", -EBADMSG },
		{ "1000-3000 rw-p 00000000 00:00 0 \nRss: 99999999999999999999 kB\n", -EBADMSG },
		{ "1000-3000 rw-p 00000000 00:00 0 \nRss: 18014398509481984 kB\n", -EBADMSG },
		{ "x000-3000 rw-p 00000000 00:00 0 \nRss: 4 kB\n", -EBADMSG },
		/* grew while it was read: the rows are those of other mappings then */
		{ "1000-3000 rw-p 0 00:00 0 \nRss: 4 kB\n2000-3000 rw-p 0 00:00 0 \n", -EAGAIN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_INT(parse(cases[i].text), cases[i].err);
		smaps_free(&smaps);
	}
}

static const struct smap *own(const void *address)
{
	const struct mapping *mapping = maps_find(&smaps.maps, (uintptr_t)address);

	CU_ASSERT_PTR_NOT_NULL_FATAL(mapping);
	return &smaps.items[mapping - smaps.maps.items];
}

static void counts_our_own_pages(void)
{
	uint64_t before;

	ASSERT_INT(smaps_read(getpid(), &smaps), 0);
	before = own(memory)->rss;
	smaps_free(&smaps);
	memset(memory, 1, 3 * PAGE_BYTES);
	ASSERT_INT(smaps_read(getpid(), &smaps), 0);
	ASSERT_INT(own(memory)->rss - before, 3 * PAGE_BYTES);
}

static void the_rollup_is_near_the_sum(void)
{
	uint64_t rollup, peak, sum = 0, some = 16u << 20;

	ASSERT_INT(smaps_read(getpid(), &smaps), 0);
	ASSERT_INT(smaps_rollup_rss(getpid(), &rollup), 0);
	ASSERT_INT(smaps_peak_rss(getpid(), &peak), 0);
	CU_ASSERT(peak + some > rollup);
	ASSERT_INT(smaps_peak_rss(0x3ffffff, &peak), -ESRCH);
	for (size_t i = 0; i < smaps.maps.count; i++)
		sum += smaps.items[i].rss;
	CU_ASSERT_FATAL(rollup > some);
	CU_ASSERT(sum < rollup + some && rollup < sum + some);
	ASSERT_INT(smaps_rollup_rss(0x3ffffff, &rollup), -ESRCH);
	ASSERT_INT(smaps_read(0x3ffffff, &smaps), -ESRCH);
}

/* ---- pagemap */

static void open_present(void)
{
	ASSERT_INT(target_open(getpid(), &t), 0);
	ASSERT_INT(target_only_present(t), 0);
}

static void tells_pages_that_are_present(void)
{
	uint64_t words[PAGES], at = (uintptr_t)memory;
	volatile uint8_t zero;

	open_present();
	memory[0] = memory[2 * PAGE_BYTES] = 1;
	zero = memory[3 * PAGE_BYTES];
	(void)zero;
	ASSERT_INT(pagemap_read(t->pagemap, at, PAGES, words), 0);
	CU_ASSERT_TRUE(words[0] & PAGEMAP_PRESENT && !pagemap_is_zero_or_shared(words[0]));
	CU_ASSERT_FALSE(words[1] & PAGEMAP_PRESENT || pagemap_is_zero_or_shared(words[1]));
	CU_ASSERT_TRUE(pagemap_is_zero_or_shared(words[3]));
	CU_ASSERT_TRUE(pagemap_all_present(t->pagemap, at, PAGE_BYTES));
	CU_ASSERT_FALSE(pagemap_all_present(t->pagemap, at, PAGE_BYTES + 1));
	CU_ASSERT_FALSE(pagemap_all_present(t->pagemap, at + PAGE_BYTES - 1, 2));
	CU_ASSERT_TRUE(pagemap_all_present(t->pagemap, at + 2 * PAGE_BYTES, 2 * PAGE_BYTES));
	CU_ASSERT_FALSE(pagemap_all_present(t->pagemap, at, 0));
	CU_ASSERT_FALSE(pagemap_all_present(t->pagemap, UINT64_MAX - 1, 8));
	CU_ASSERT_FALSE(pagemap_all_present(t->pagemap, UINT64_MAX, 8));
	ASSERT_INT(pagemap_read(t->pagemap, UINT64_MAX - 4095, 1, words), -EFAULT);
}

static void looking_takes_no_memory(void)
{
	struct target_part parts[] = {
		{ .addr = (uintptr_t)memory, .size = 8 },
		{ .addr = (uintptr_t)memory + PAGE_BYTES, .size = 8 },
	};
	uint64_t word, words[2], at = (uintptr_t)memory;

	open_present();
	memset(memory, 7, PAGE_BYTES);
	parts[0].to = &words[0];
	parts[1].to = &words[1];
	ASSERT_INT(target_read_u64(t, at + PAGE_BYTES - 8, &word), 0);
	ASSERT_INT(word, 0x0707070707070707);
	ASSERT_INT(target_read_u64(t, at + PAGE_BYTES - 4, &word), -EFAULT);
	ASSERT_INT(target_read_u64(t, at + PAGE_BYTES, &word), -EFAULT);
	ASSERT_INT(target_read_parts(t, parts, 2), 0);
	ASSERT_INT(parts[0].err, 0);
	ASSERT_INT(parts[1].err, -EFAULT);
	ASSERT_INT(pagemap_read(t->pagemap, at + PAGE_BYTES, 1, &word), 0);
	CU_ASSERT_FALSE(word & PAGEMAP_PRESENT);
}

static CU_TestInfo tests[] = {
	{ "reads numbers of each mapping", reads_numbers_of_each_mapping },
	{ "refuses what makes no sense", refuses_what_makes_no_sense },
	{ "counts our own pages", counts_our_own_pages },
	{ "the rollup is near the sum", the_rollup_is_near_the_sum },
	{ "tells pages that are present", tells_pages_that_are_present },
	{ "looking takes no memory", looking_takes_no_memory },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_smaps_suite = {
	.pName = "target_smaps",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
