/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "live/process.h"
#include "target/target.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

#define INDEX	    3 /* of the target */
#define PIDS	    0 /* fakes.maps */
#define THREADS	    1
#define MANY	    2050
#define KEPT	    2048
#define SPACE_SMALL 16

static struct images images;
static struct tables tables;
static struct process p;
static struct strbuf text;

static void setup(void)
{
	fakes_reset();
	fakes.maps[PIDS].value_size = sizeof(uint32_t);
	tables = (struct tables){ .pids_fd = FAKE_MAP_FD + PIDS,
				  .threads_fd = FAKE_MAP_FD + THREADS,
				  .next_mapping_id = 1 };
	tables.targets = calloc(JVS_MAX_TARGETS, sizeof(*tables.targets));
	tables.mappings = calloc(TABLES_MAX_MAPPINGS, sizeof(*tables.mappings));
	CU_ASSERT_FATAL(tables.targets && tables.mappings);
	ASSERT_INT(space_init(&tables.mapping_space, TABLES_MAX_MAPPINGS), 0);
	ASSERT_INT(space_init(&tables.row_space, TABLES_MAX_ROWS), 0);
	ASSERT_INT(space_init(&tables.index_space, TABLES_MAX_INDEX), 0);
	p = (struct process){ 0 };
	text = (struct strbuf){ 0 };
}

static void teardown(void)
{
	process_close(&p, &images, &tables);
	images_free(&images, &tables);
	free(tables.targets);
	free(tables.mappings);
	space_free(&tables.mapping_space);
	space_free(&tables.row_space);
	space_free(&tables.index_space);
	strbuf_free(&text);
	fakes_reset();
}

/* One line of the maps file. Files that do not exist have neither rows nor names, which is fine. */
static void map(uint64_t start, uint64_t end, const char *flags, uint64_t inode)
{
	char line[128];

	snprintf(line, sizeof(line), "%08lx-%08lx %s 00000000 08:01 %lu %s%lu\n",
		 (unsigned long)start, (unsigned long)end, flags, (unsigned long)inode,
		 inode ? "/none/such/" : "", (unsigned long)inode);
	if (!inode)
		memcpy(strrchr(line, ' '), "\n", 2);
	strbuf_puts(&text, line);
	fakes.maps_text = strbuf_text(&text);
}

static void unmap_all(void)
{
	strbuf_free(&text);
	fakes.maps_text = "";
}

static void open_process(void)
{
	ASSERT_INT(process_open(&p, &images, &tables, getpid(), INDEX), 0);
}

static void refresh(void)
{
	ASSERT_INT(process_refresh_mappings(&p, &images, &tables), 0);
}

static uint32_t id_at(uint64_t addr)
{
	const struct process_mapping *mapping = process_mapping_at(&p, addr);

	CU_ASSERT_PTR_NOT_NULL_FATAL(mapping);
	return mapping->id;
}

/* The mappings as the kernel sees them. */
static uint32_t installed(const struct jvs_mapping **out)
{
	uint64_t word = tables.targets[INDEX].mappings;

	*out = &tables.mappings[(uint32_t)word];
	return (uint32_t)(word >> 32);
}

static void the_kernel_gets_code_only_in_order(void)
{
	const struct jvs_mapping *rows;

	map(0x1000, 0x3000, "r-xp", 7);
	map(0x3000, 0x4000, "rw-p", 7);
	map(0x5000, 0x6000, "rwxp", 0);
	map(0xffffffffff600000, 0xffffffffff601000, "--xp", 0);
	open_process();
	ASSERT_INT(installed(&rows), 3);
	ASSERT_INT(rows[0].start, 0x1000);
	ASSERT_INT(rows[0].end, 0x3000);
	ASSERT_INT(rows[1].start, 0x5000);
	CU_ASSERT_NOT_EQUAL(rows[0].id, rows[1].id);
	ASSERT_INT(fake_map_get(&fakes.maps[PIDS], (uint32_t)getpid()), INDEX);
}

static void an_address_is_in_a_mapping_from_start_to_before_its_end(void)
{
	map(0x1000, 0x3000, "r-xp", 7);
	map(0x5000, 0x6000, "r-xp", 8);
	open_process();
	CU_ASSERT_PTR_NULL(process_mapping_at(&p, 0xfff));
	CU_ASSERT_PTR_NOT_NULL(process_mapping_at(&p, 0x1000));
	CU_ASSERT_PTR_NOT_NULL(process_mapping_at(&p, 0x2fff));
	CU_ASSERT_PTR_NULL(process_mapping_at(&p, 0x3000));
	CU_ASSERT_PTR_NULL(process_mapping_at(&p, 0x4fff));
	CU_ASSERT_PTR_NOT_NULL(process_mapping_at(&p, 0x5fff));
	CU_ASSERT_PTR_NULL(process_mapping_at(&p, 0x6000));
	CU_ASSERT_PTR_NULL(process_mapping_at(&p, UINT64_MAX));
}

static void a_mapping_that_stays_keeps_its_id(void)
{
	uint32_t first, last;

	map(0x1000, 0x2000, "r-xp", 7);
	map(0x8000, 0x9000, "r-xp", 9);
	open_process();
	first = id_at(0x1000);
	last = id_at(0x8000);
	unmap_all();
	map(0x1000, 0x2000, "r-xp", 7);
	map(0x4000, 0x5000, "r-xp", 8);
	map(0x8000, 0x9000, "r-xp", 9);
	refresh();
	ASSERT_INT(id_at(0x1000), first);
	ASSERT_INT(id_at(0x8000), last);
	CU_ASSERT(id_at(0x4000) != first && id_at(0x4000) != last);
}

static void what_did_not_change_is_not_installed_again(void)
{
	uint64_t word;

	map(0x1000, 0x2000, "r-xp", 7);
	open_process();
	word = tables.targets[INDEX].mappings;
	map(0x2000, 0x3000, "rw-p", 7);
	refresh();
	CU_ASSERT_EQUAL(tables.targets[INDEX].mappings, word);
}

static void other_code_at_the_same_address_gets_another_id(void)
{
	static const struct {
		uint64_t start, end, inode;
	} others[] = {
		{ 0x1000, 0x3000, 8 }, /* another file */
		{ 0x1000, 0x2000, 7 }, /* shorter */
		{ 0x0000, 0x3000, 7 }, /* begins earlier */
		{ 0x1000, 0x3000, 0 }, /* no file */
	};
	uint32_t id;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		unmap_all();
		map(0x1000, 0x3000, "r-xp", 7);
		if (p.target)
			refresh();
		else
			open_process();
		id = id_at(0x1800);
		unmap_all();
		map(others[i].start, others[i].end, "r-xp", others[i].inode);
		refresh();
		CU_ASSERT_NOT_EQUAL(id_at(0x1800), id);
		/* Frames that were captured before are named a moment later. */
		CU_ASSERT_PTR_NOT_NULL_FATAL(process_mapping_by_id(&p, id));
		ASSERT_INT(process_mapping_by_id(&p, id)->end, 0x3000);
	}
	CU_ASSERT_PTR_NULL(process_mapping_by_id(&p, 0));
	CU_ASSERT_PTR_NULL(process_mapping_by_id(&p, 12345));
}

static void changes_without_end_need_no_more_room(void)
{
	for (uint64_t i = 0; i < 20000; i++) {
		unmap_all();
		map(0x1000, 0x3000, "r-xp", i % 100 + 1);
		map(0x8000, 0x9000, "r-xp", 7);
		if (p.target)
			refresh();
		else
			open_process();
	}
	/* Two sets of two mappings are in use. */
	ASSERT_INT(images.count, 3);
	process_close(&p, &images, &tables);
	ASSERT_INT(images.count, 0);
	ASSERT_INT(tables.mapping_space.count, 1);
	ASSERT_INT(tables.mapping_space.free[0].count, TABLES_MAX_MAPPINGS);
}

static void the_code_heap_is_no_native_code(void)
{
	const struct jvs_mapping *rows;

	map(0x1000, 0x2000, "r-xp", 7);
	map(0x10000, 0x20000, "rwxp", 0);
	open_process();
	ASSERT_INT(installed(&rows), 2);
	/* Now it is known what lies there. */
	p.jvm = fake_jvm();
	fakes.code_heap_low = 0x10000;
	fakes.code_heap_high = 0x40000;
	refresh();
	ASSERT_INT(installed(&rows), 1);
	ASSERT_INT(rows[0].start, 0x1000);
}

static void mappings_over_the_limit_are_left_out(void)
{
	const struct jvs_mapping *rows;
	uint64_t word;

	for (uint64_t i = 0; i < MANY; i++)
		map(i << 16, (i << 16) + 0x1000, "r-xp", 0);
	open_process();
	ASSERT_INT(installed(&rows), KEPT);
	CU_ASSERT_TRUE(p.mappings_full);
	CU_ASSERT_PTR_NOT_NULL(process_mapping_at(&p, (uint64_t)(KEPT - 1) << 16));
	CU_ASSERT_PTR_NULL(process_mapping_at(&p, (uint64_t)KEPT << 16));
	word = tables.targets[INDEX].mappings;
	refresh();
	CU_ASSERT_EQUAL(tables.targets[INDEX].mappings, word);
}

static void mappings_that_find_no_room_leave_the_old_ones(void)
{
	const struct jvs_mapping *rows;
	uint32_t id;

	space_free(&tables.mapping_space);
	ASSERT_INT(space_init(&tables.mapping_space, SPACE_SMALL), 0);
	map(0x1000, 0x2000, "r-xp", 7);
	open_process();
	id = id_at(0x1000);
	for (uint64_t i = 1; i <= SPACE_SMALL; i++)
		map(i << 16, (i << 16) + 0x1000, "r-xp", i);
	ASSERT_INT(process_refresh_mappings(&p, &images, &tables), -ENOSPC);
	ASSERT_INT(installed(&rows), 1);
	ASSERT_INT(id_at(0x1000), id);
	ASSERT_INT(images.count, 1);
}

static void a_map_that_makes_no_sense_leaves_the_old_one(void)
{
	map(0x1000, 0x2000, "r-xp", 7);
	open_process();
	fakes.maps_text = "no mapping at all\n";
	CU_ASSERT(process_refresh_mappings(&p, &images, &tables) < 0);
	CU_ASSERT_PTR_NOT_NULL(process_mapping_at(&p, 0x1000));
}

static void a_process_the_kernel_has_no_room_for_takes_nothing(void)
{
	fakes.maps[PIDS].capacity = 0;
	map(0x1000, 0x2000, "r-xp", 7);
	ASSERT_INT(process_open(&p, &images, &tables, getpid(), INDEX), -E2BIG);
	CU_ASSERT_PTR_NULL(p.target);
	ASSERT_INT(images.count, 0);
	ASSERT_INT(tables.mapping_space.free[0].count, TABLES_MAX_MAPPINGS);
}

static void an_ended_process_is_forgotten_by_the_kernel(void)
{
	struct fake_thread threads[] = { { .tid = 10 }, { .tid = 11 } };
	static const struct jvm_thread java[] = { { .ns_tid = 10, .java_thread = 0xa00 } };

	map(0x1000, 0x2000, "r-xp", 7);
	fakes.threads = threads;
	fakes.thread_count = 2;
	fakes.java_threads = java;
	fakes.java_count = 1;
	open_process();
	p.jvm = fake_jvm();
	process_enable(&p, &tables, true);
	process_refresh_threads(&p, &tables, true);
	ASSERT_INT(fakes.maps[PIDS].count + fakes.maps[THREADS].count, 2);
	ASSERT_INT(tables.targets[INDEX].flags, JVS_TARGET_ON);

	process_end(&p, &tables);
	ASSERT_INT(fakes.maps[PIDS].count + fakes.maps[THREADS].count, 0);
	ASSERT_INT(tables.targets[INDEX].flags, 0);
	/* Names stay. */
	CU_ASSERT_PTR_NOT_NULL(process_mapping_at(&p, 0x1000));
}

static void another_program_has_no_jvm_until_it_is_found(void)
{
	map(0x1000, 0x2000, "r-xp", 7);
	open_process();
	p.jvm = fake_jvm();
	p.state = PROCESS_JAVA;
	p.looks = 7;
	p.class_cost_ns = 8;
	tables.targets[INDEX].flags = JVS_TARGET_ON | JVS_TARGET_JAVA | JVS_TARGET_ANCHOR;
	process_forget_jvm(&p, &tables);
	ASSERT_INT(tables.targets[INDEX].flags, JVS_TARGET_ON);
	ASSERT_INT(p.state, PROCESS_WAITING);
	ASSERT_INT(p.looks, 0);
	ASSERT_INT(p.class_cost_ns, 0);
	CU_ASSERT_PTR_NULL(p.jvm);
}

static void libjvm_is_seen_when_it_is_mapped(void)
{
	map(0x1000, 0x2000, "r-xp", 7);
	open_process();
	CU_ASSERT_FALSE(p.libjvm_mapped);
	fakes.maps_text = "00001000-00002000 r-xp 00000000 08:01 7 /none/such/libjvm.so\n";
	refresh();
	CU_ASSERT_TRUE(p.libjvm_mapped);
}

static CU_TestInfo tests[] = {
	{ "the kernel gets code only, in order", the_kernel_gets_code_only_in_order },
	{ "an address is in a mapping from start to before its end",
	  an_address_is_in_a_mapping_from_start_to_before_its_end },
	{ "a mapping that stays keeps its id", a_mapping_that_stays_keeps_its_id },
	{ "what did not change is not installed again",
	  what_did_not_change_is_not_installed_again },
	{ "other code at the same address gets another id",
	  other_code_at_the_same_address_gets_another_id },
	{ "changes without end need no more room", changes_without_end_need_no_more_room },
	{ "the code heap is no native code", the_code_heap_is_no_native_code },
	{ "mappings over the limit are left out", mappings_over_the_limit_are_left_out },
	{ "mappings that find no room leave the old ones",
	  mappings_that_find_no_room_leave_the_old_ones },
	{ "a map that makes no sense leaves the old one",
	  a_map_that_makes_no_sense_leaves_the_old_one },
	{ "a process the kernel has no room for takes nothing",
	  a_process_the_kernel_has_no_room_for_takes_nothing },
	{ "an ended process is forgotten by the kernel",
	  an_ended_process_is_forgotten_by_the_kernel },
	{ "another program has no JVM until it is found",
	  another_program_has_no_jvm_until_it_is_found },
	{ "libjvm is seen when it is mapped", libjvm_is_seen_when_it_is_mapped },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_process_suite = {
	.pName = "live process",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
