/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jvm/memory_impl.h"
#include "target/maps.h"
#include "target/pagemap.h"
#include "target/target.h"
#include "unit/perf_bytes.h"
#include "unit/unit.h"

/* A VM whose variables are in our own memory. */

static struct vm_memory vm;
static struct target *t;
static struct vm_counters counters;

static void setup(void)
{
	struct memory_members *m = &vm.member;
	uint64_t none = NO_MEMBER;

	memset(&vm, 0, sizeof(vm));
	for (size_t i = 0; i < sizeof(*m) / sizeof(none); i++)
		memcpy((uint8_t *)m + i * sizeof(none), &none, sizeof(none));
	counters = (struct vm_counters){ 0 };
	ASSERT_INT(target_open(getpid(), &t), 0);
	ASSERT_INT(target_only_present(t), 0);
	vm.target = t;
}

static void teardown(void)
{
	vm_counters_free(&counters);
	target_close(t);
}

/* ---- performance counters */

static struct perf_bytes perf;
static uint64_t perf_start;
static uint64_t perf_capacity;

static void begin_perf(void)
{
	perf_begin(&perf);
	perf_start = (uintptr_t)&perf;
	perf_capacity = sizeof(perf);
	vm.member.perf_start = (uintptr_t)&perf_start;
	vm.member.perf_capacity = (uintptr_t)&perf_capacity;
}

static int64_t number_of(const char *name)
{
	int64_t value = -1;

	perfdata_number(&counters.table, perfdata_find(&counters.table, name), &value);
	return value;
}

static void counters_are_found_by_name(void)
{
	begin_perf();
	perf_number(&perf, "java.threads.live", 17);
	perf_text(&perf, "sun.gc.cause", "No GC", 8);
	perf_number(&perf, "sun.rt.safepoints", 5);
	ASSERT_INT(vm_counters_read(&vm, &counters), 0);
	ASSERT_INT(counters.tables, 1);
	ASSERT_INT(number_of("java.threads.live"), 17);
	ASSERT_INT(number_of("sun.rt.safepoints"), 5);
	ASSERT_INT(number_of("sun.gc.cause"), -1);
	ASSERT_INT(number_of("java.threads"), -1);
}

static void the_next_look_shows_what_is_there_then(void)
{
	const struct perfdata_entry *entry;
	int64_t value;

	begin_perf();
	perf_number(&perf, "java.threads.live", 17);
	ASSERT_INT(vm_counters_read(&vm, &counters), 0);
	entry = perfdata_find(&counters.table, "java.threads.live");
	begin_perf();
	perf_number(&perf, "java.threads.live", 18);
	ASSERT_INT(vm_counters_read(&vm, &counters), 0);
	/* Places stay while there is nothing new. */
	ASSERT_INT(counters.tables, 1);
	CU_ASSERT_TRUE(perfdata_number(&counters.table, entry, &value));
	ASSERT_INT(value, 18);
	perf_number(&perf, "sun.rt.safepoints", 5);
	ASSERT_INT(vm_counters_read(&vm, &counters), 0);
	ASSERT_INT(counters.tables, 2);
	ASSERT_INT(number_of("sun.rt.safepoints"), 5);
}

static void there_may_be_no_counters(void)
{
	ASSERT_INT(vm_counters_read(&vm, &counters), -ENOENT);
	begin_perf();
	ASSERT_INT(vm_counters_read(&vm, &counters), -ENOENT);
	perf_number(&perf, "java.threads.live", 17);
	ASSERT_INT(vm_counters_read(&vm, &counters), 0);
	perf.accessible = 0;
	ASSERT_INT(vm_counters_read(&vm, &counters), -ENOENT);
	perf_start = 0;
	ASSERT_INT(vm_counters_read(&vm, &counters), -ENOENT);
	perf_start = (uintptr_t)&perf;
	perf_capacity = UINT64_MAX;
	ASSERT_INT(vm_counters_read(&vm, &counters), -ENOENT);
}

/* Absent memory is not a counter of 0. */
static void counters_on_absent_pages_are_not_read(void)
{
	uint8_t *pages = mmap(NULL, 2 * MEMORY_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL(pages != MAP_FAILED);
	begin_perf();
	perf_number(&perf, "java.threads.live", 17);
	perf.used = MEMORY_PAGE + 1;
	memcpy(pages, &perf, sizeof(perf));
	perf_start = (uintptr_t)pages;
	perf_capacity = 2 * MEMORY_PAGE;
	ASSERT_INT(vm_counters_read(&vm, &counters), -EFAULT);
	pages[MEMORY_PAGE] = 1;
	ASSERT_INT(vm_counters_read(&vm, &counters), 0);
	ASSERT_INT(number_of("java.threads.live"), 17);
	munmap(pages, 2 * MEMORY_PAGE);
}

/* ---- Native Memory Tracking */

static uint32_t level;
static const char *names[] = { "Java Heap", "Class" };
static const char *pairs[] = { "mtJavaHeap", "Java Heap", "mtClass", "Class" };
static uint64_t with_peaks[17] = { 1, 2, 0, 0, 3, 4, 0, 0, 10, 20, 99, 99, 30, 40, 99, 99, 7 };
static uint64_t without[8] = { 1, 2, 3, 4, 10, 20, 30, 40 };
static uint64_t ranges[6] = { 100, 50, 99, 300, 200, 99 };
static uint64_t pairs_of_ranges[4] = { 100, 50, 300, 200 };

static void check_tags(void)
{
	struct vm_tag tags[VM_TAGS_MAX];

	ASSERT_INT(vm_memory_tags(&vm, tags), 2);
	CU_ASSERT_STRING_EQUAL(tags[0].name, "Java Heap");
	CU_ASSERT_STRING_EQUAL(tags[1].name, "Class");
	ASSERT_INT(tags[1].malloc_count, 10);
	ASSERT_INT(tags[1].malloc_bytes, 20);
	ASSERT_INT(tags[1].arena_count, 30);
	ASSERT_INT(tags[1].arena_bytes, 40);
	ASSERT_INT(tags[1].reserved, 300);
	ASSERT_INT(tags[1].committed, 200);
	ASSERT_INT(tags[0].malloc_bytes, 2);
}

static void tags_of_all_layouts_are_read(void)
{
	level = 2;
	vm.symbol.tracking_level = (uintptr_t)&level;
	vm.symbol.tag_names = (uintptr_t)names;
	vm.size.tag_names = sizeof(names);
	vm.symbol.malloc_snapshot = (uintptr_t)with_peaks;
	vm.size.malloc_snapshot = sizeof(with_peaks);
	vm.symbol.virtual_snapshot = (uintptr_t)ranges;
	vm.size.virtual_snapshot = sizeof(ranges);
	check_tags();
	level = 3;
	vm.symbol.tag_pairs = (uintptr_t)pairs;
	vm.size.tag_pairs = sizeof(pairs);
	vm.symbol.malloc_snapshot = (uintptr_t)without;
	vm.size.malloc_snapshot = sizeof(without);
	vm.symbol.virtual_snapshot = (uintptr_t)pairs_of_ranges;
	vm.size.virtual_snapshot = sizeof(pairs_of_ranges);
	check_tags();
}

static void tags_are_none_when_tracking_is_off(void)
{
	static const uint32_t off[] = { 0, 1, 0xff };
	struct vm_tag tags[VM_TAGS_MAX];

	ASSERT_INT(vm_memory_tags(&vm, tags), 0);
	vm.symbol.tracking_level = (uintptr_t)&level;
	vm.symbol.tag_names = (uintptr_t)names;
	vm.size.tag_names = sizeof(names);
	for (size_t i = 0; i < ARRAY_SIZE(off); i++) {
		level = off[i];
		ASSERT_INT(vm_memory_tags(&vm, tags), 0);
	}
	level = 2;
	ASSERT_INT(vm_memory_tags(&vm, tags), 2);
	ASSERT_INT(tags[1].malloc_bytes, 0);
	vm.size.tag_names = 8 * (VM_TAGS_MAX + 1);
	ASSERT_INT(vm_memory_tags(&vm, tags), 0);
}

/* ---- areas */

struct seen {
	struct vm_area areas[16];
	uint32_t count;
};

static void note(const struct vm_area *area, void *ctx)
{
	struct seen *seen = ctx;

	CU_ASSERT_FATAL(seen->count < ARRAY_SIZE(seen->areas));
	seen->areas[seen->count++] = *area;
}

static void metaspace_is_a_list_of_nodes(void)
{
	static uint64_t second[3], first[3], list[3], context[2], variable;
	struct maps maps = { 0 };
	struct memory_walk walk = {
		.memory = &vm, .target = t, .maps = &maps, .witnesses = &vm.witnesses, .found = note
	};
	struct seen seen = { .count = 0 };

	walk.ctx = &seen;
	variable = (uintptr_t)context;
	context[1] = (uintptr_t)list;
	list[2] = (uintptr_t)first;
	first[0] = (uintptr_t)second;
	first[1] = 0x10000;
	first[2] = 0x4000;
	second[1] = 0x80000;
	second[2] = 0x1000;
	vm.symbol.nonclass_context = (uintptr_t)&variable;
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 2);
	ASSERT_INT(seen.areas[0].use, VM_METASPACE);
	ASSERT_INT(seen.areas[0].start, 0x10000);
	ASSERT_INT(seen.areas[0].end, 0x14000);
	ASSERT_INT(seen.areas[1].end, 0x81000);
	/* A list that bites its tail ends, too. */
	second[0] = (uintptr_t)first;
	second[2] = 0;
	first[2] = 0;
	seen.count = 0;
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 0);
}

static void nodes_of_older_lists_have_bounds(void)
{
	static uint64_t second[12], first[12], list[1], variable, classes[12], class_list[1], other;
	struct maps maps = { 0 };
	struct memory_walk walk = {
		.memory = &vm, .target = t, .maps = &maps, .witnesses = &vm.witnesses, .found = note
	};
	struct seen seen = { .count = 0 };

	walk.ctx = &seen;
	variable = (uintptr_t)list;
	list[0] = (uintptr_t)first;
	first[0] = (uintptr_t)second;
	first[10] = 0x10000;
	first[11] = 0x14000;
	second[10] = 0x80000;
	second[11] = 0x81000;
	other = (uintptr_t)class_list;
	class_list[0] = (uintptr_t)classes;
	classes[10] = 0x100000;
	classes[11] = 0x200000;
	vm.symbol.nonclass_list = (uintptr_t)&variable;
	vm.symbol.class_list = (uintptr_t)&other;
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 3);
	ASSERT_INT(seen.areas[0].use, VM_METASPACE);
	ASSERT_INT(seen.areas[0].start, 0x10000);
	ASSERT_INT(seen.areas[0].end, 0x14000);
	ASSERT_INT(seen.areas[1].end, 0x81000);
	ASSERT_INT(seen.areas[2].use, VM_CLASS_SPACE);
	ASSERT_INT(seen.areas[2].end, 0x200000);
	CU_ASSERT_FALSE(seen.areas[2].loose);
	/* A list that bites its tail ends, too. */
	second[0] = (uintptr_t)first;
	first[11] = second[11] = 0;
	seen.count = 0;
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 1);
}

static void without_the_list_classes_show_the_mappings(void)
{
	/* ClassLoaderData: klasses, next. Klass: next, layout, constants, name. Symbol: length,
	 * text. */
	static uint64_t loader[2], head;
	struct memory_members *m = &vm.member;
	struct maps maps;
	struct memory_walk walk = {
		.memory = &vm, .target = t, .maps = &maps, .witnesses = &vm.witnesses, .found = note
	};
	struct seen seen = { .count = 0 };
	void *constants;
	uint64_t *klass = mmap(NULL, 2 * MEMORY_PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL(klass != MAP_FAILED);
	walk.ctx = &seen;
	head = (uintptr_t)loader;
	loader[0] = (uintptr_t)klass;
	klass[1] = 8;
	constants = malloc(1 << 20);
	CU_ASSERT_PTR_NOT_NULL_FATAL(constants);
	klass[2] = (uintptr_t)constants;
	m->cld_head = (uintptr_t)&head;
	m->cld_klasses = 0;
	m->cld_next = 8;
	m->klass_next = 0;
	m->klass_layout = 8;
	m->klass_constants = 16;
	ASSERT_INT(maps_read(getpid(), &maps), 0);
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 2);
	ASSERT_INT(seen.areas[0].use, VM_METASPACE);
	ASSERT_INT(seen.areas[1].use, VM_CLASS_SPACE);
	CU_ASSERT(seen.areas[1].start <= (uintptr_t)klass && seen.areas[1].end > (uintptr_t)klass);
	CU_ASSERT_TRUE(seen.areas[0].loose && seen.areas[1].loose);
	/* The next look need not find them. */
	head = 0;
	seen.count = 0;
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 2);
	/* A class of an array has no constants. */
	head = (uintptr_t)loader;
	vm.witnesses.count = 0;
	klass[1] = (uint32_t)-8;
	seen.count = 0;
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 0);
	/* Without a class space all is metaspace. */
	klass[1] = 8;
	klass[2] = (uintptr_t)&klass[8];
	seen.count = 0;
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 1);
	ASSERT_INT(seen.areas[0].use, VM_METASPACE);
	maps_free(&maps);
	free(constants);
	munmap(klass, 2 * MEMORY_PAGE);
}

static void classes_of_8_are_found_along_their_links(void)
{
	/* Klass: super, subklass, sibling, next, layout, constants, name. Symbol: length, text. */
	static char symbol[] = "\x10\0java/lang/Object";
	static uint64_t variable;
	struct memory_members *m = &vm.member;
	struct fields *f = &vm.hotspot.field;
	struct maps maps;
	struct memory_walk walk = {
		.memory = &vm, .target = t, .maps = &maps, .witnesses = &vm.witnesses, .found = note
	};
	struct seen seen = { .count = 0 };
	uint64_t(*klass)[8] =
		mmap(NULL, MEMORY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *other = malloc(64);

	CU_ASSERT_FATAL(klass != MAP_FAILED && other);
	walk.ctx = &seen;
	variable = (uintptr_t)klass[1];
	klass[1][0] = (uintptr_t)klass[2];
	klass[2][1] = (uintptr_t)klass[1];
	klass[2][2] = (uintptr_t)other; /* whose name is none */
	klass[1][4] = klass[2][4] = 8;
	klass[1][6] = klass[2][6] = (uintptr_t)symbol;
	other[6] = 0;
	m->klass_super = 0;
	m->klass_subklass = 8;
	m->klass_sibling = 16;
	m->klass_next = 24;
	m->klass_layout = 32;
	m->klass_constants = 40;
	f->klass_name = (struct field){ .at = 48, .size = 8 };
	f->symbol_length = (struct field){ .at = 0, .size = 2 };
	f->symbol_body = (struct field){ .at = 2, .size = 1 };
	vm.klasses[vm.klass_count++] = (uintptr_t)&variable;
	ASSERT_INT(maps_read(getpid(), &maps), 0);
	memory_metaspace(&walk);
	ASSERT_INT(seen.count, 1);
	ASSERT_INT(vm.witnesses.count, 1);
	CU_ASSERT(seen.areas[0].start <= (uintptr_t)klass && seen.areas[0].end > (uintptr_t)klass);
	maps_free(&maps);
	free(other);
	munmap(klass, MEMORY_PAGE);
}

static void offsets_of_nonsense_lead_to_no_class(void)
{
	static const uint64_t offsets[] = {
		UINT64_MAX - 1, UINT64_MAX - 7, UINT64_MAX - 8, 1ull << 32, 512, 505
	};
	static uint64_t loader[1], loader_at, klass[8];
	struct vm_buffers direct, mapped;

	loader_at = (uintptr_t)loader;
	loader[0] = (uintptr_t)klass;
	vm.symbol.boot_loader = (uintptr_t)&loader_at;
	vm.member.cld_klasses = 0;
	vm.hotspot.field.klass_name = (struct field){ .at = 8, .size = 8 };
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct vm_buffer_classes classes = { 0 };

		vm.member.klass_next = offsets[i];
		vm_memory_buffers(&vm, &classes, &direct, &mapped);
		CU_ASSERT_FALSE(classes.direct || classes.number || classes.mapped);
	}
}

static CU_TestInfo tests[] = {
	{ "counters are found by name", counters_are_found_by_name },
	{ "the next look shows what is there then", the_next_look_shows_what_is_there_then },
	{ "counters on absent pages are not read", counters_on_absent_pages_are_not_read },
	{ "there may be no counters", there_may_be_no_counters },
	{ "tags of all layouts are read", tags_of_all_layouts_are_read },
	{ "tags are none when tracking is off", tags_are_none_when_tracking_is_off },
	{ "metaspace is a list of nodes", metaspace_is_a_list_of_nodes },
	{ "nodes of older lists have bounds", nodes_of_older_lists_have_bounds },
	{ "without the list classes show the mappings",
	  without_the_list_classes_show_the_mappings },
	{ "classes of 8 are found along their links", classes_of_8_are_found_along_their_links },
	{ "offsets of nonsense lead to no class", offsets_of_nonsense_lead_to_no_class },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_memory_suite = {
	.pName = "jvm_memory",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
