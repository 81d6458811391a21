/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/memory.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jvm/memory_impl.h"
#include "jvm/vmstructs.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/target.h"

#define NAMES_MAX      3
#define CODE_HEAPS_MAX 16

/* ---- what the tables say */

struct rule {
	size_t member;
	const char *names[NAMES_MAX];
};

#define AT(member) offsetof(struct memory_members, member)

static const struct rule rules[] = {
	{ AT(collected_heap), { "Universe::_collectedHeap" } },
	{ AT(heap_reserved), { "CollectedHeap::_reserved" } },
	{ AT(shared_base),
	  { "MetaspaceObj::_shared_metaspace_base", "MetaspaceObj::_aot_metaspace_base" } },
	{ AT(shared_top),
	  { "MetaspaceObj::_shared_metaspace_top", "MetaspaceObj::_aot_metaspace_top" } },
	{ AT(code_heaps), { "CodeCache::_heaps" } },
	{ AT(code_heap), { "CodeCache::_heap" } },
	{ AT(array_length), { "GrowableArrayBase::_len", "GenericGrowableArray::_len" } },
	{ AT(array_data), { "GrowableArray<int>::_data" } },
	{ AT(heap_memory), { "CodeHeap::_memory" } },
	{ AT(heap_segmap), { "CodeHeap::_segmap" } },
	{ AT(space_low), { "VirtualSpace::_low_boundary" } },
	{ AT(space_high), { "VirtualSpace::_high_boundary" } },
	{ AT(perf_start), { "PerfMemory::_start" } },
	{ AT(perf_capacity), { "PerfMemory::_capacity" } },
	{ AT(cld_head), { "ClassLoaderDataGraph::_head" } },
	{ AT(cld_klasses), { "ClassLoaderData::_klasses" } },
	{ AT(cld_next), { "ClassLoaderData::_next" } },
	{ AT(klass_next), { "Klass::_next_link" } },
	{ AT(klass_layout), { "Klass::_layout_helper" } },
	{ AT(klass_constants), { "InstanceKlass::_constants" } },
	{ AT(klass_super), { "Klass::_super" } },
	{ AT(klass_subklass), { "Klass::_subklass" } },
	{ AT(klass_sibling), { "Klass::_next_sibling" } },
	{ AT(klass_mirror), { "Klass::_java_mirror" } },
	{ AT(barrier_set), { "BarrierSet::_barrier_set" } },
	{ AT(heap_barrier_set), { "CollectedHeap::_barrier_set" } },
	{ AT(card_table), { "CardTableBarrierSet::_card_table" } },
	{ AT(byte_map), { "CardTable::_byte_map", "CardTableModRefBS::_byte_map" } },
	{ AT(byte_map_size), { "CardTable::_byte_map_size", "CardTableModRefBS::_byte_map_size" } },
	{ AT(g1_hrm), { "G1CollectedHeap::_hrm" } },
	{ AT(parallel_old), { "ParallelScavengeHeap::_old_gen" } },
	{ AT(shenandoah_regions), { "ShenandoahHeap::_regions" } },
};

static void read_members(const struct vmstructs *vm, struct memory_members *out)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		uint64_t at = NO_MEMBER;

		for (size_t n = 0; n < NAMES_MAX && rules[i].names[n] && at == NO_MEMBER; n++) {
			const struct vm_field *field = vmstructs_field(vm, rules[i].names[n]);

			at = field ? field->at : NO_MEMBER;
		}
		memcpy((char *)out + rules[i].member, &at, sizeof(at));
	}
}

/* JDK 8 lists no class loaders: its classes are found from those that the VM knows by name. */
static void read_klasses(const struct vmstructs *vm, struct vm_memory *memory)
{
	for (size_t i = 0; i < vm->field_count; i++) {
		const struct vm_field *field = &vm->fields[i];
		bool is_klass = strstr(field->ctype, "Klass*") || strstr(field->name, "_klass") ||
				strstr(field->name, "KlassObj");

		if (field->is_static && is_klass && memory->klass_count < MEMORY_KLASSES_MAX)
			memory->klasses[memory->klass_count++] = field->at;
	}
}

/* ---- what symbols say */

struct symbol_rule {
	size_t symbol;
	size_t size; /* NO_SIZE: not asked */
	const char *names[NAMES_MAX];
};

#define NO_SIZE	     SIZE_MAX
#define SYM(member)  offsetof(struct memory_symbols, member)
#define SIZE(member) offsetof(struct memory_sizes, member)

static const struct symbol_rule symbol_rules[] = {
	{ SYM(nonclass_context),
	  NO_SIZE,
	  { "_ZN9metaspace16MetaspaceContext23_nonclass_space_contextE" } },
	{ SYM(class_context),
	  NO_SIZE,
	  { "_ZN9metaspace16MetaspaceContext20_class_space_contextE" } },
	{ SYM(nonclass_list), NO_SIZE, { "_ZN9Metaspace11_space_listE" } },
	{ SYM(class_list), NO_SIZE, { "_ZN9Metaspace17_class_space_listE" } },
	{ SYM(from_card_cache), NO_SIZE, { "_ZN15G1FromCardCache6_cacheE" } },
	{ SYM(grain_bytes),
	  NO_SIZE,
	  { "_ZN10HeapRegion10GrainBytesE", "_ZN12G1HeapRegion10GrainBytesE" } },
	{ SYM(summary_data), SIZE(summary_data), { "_ZN17PSParallelCompact13_summary_dataE" } },
	{ SYM(mark_bitmap), SIZE(mark_bitmap), { "_ZN17PSParallelCompact12_mark_bitmapE" } },
	{ SYM(z_stack_start), NO_SIZE, { "_ZL20ZMarkStackSpaceStart", "ZMarkStackSpaceStart" } },
	{ SYM(z_stack_limit), NO_SIZE, { "ZMarkStackSpaceLimit" } },
	{ SYM(polling_page),
	  NO_SIZE,
	  { "_ZN18SafepointMechanism13_polling_pageE", "_ZN2os13_polling_pageE" } },
	{ SYM(malloc_snapshot), SIZE(malloc_snapshot), { "_ZN19MallocMemorySummary9_snapshotE" } },
	{ SYM(virtual_snapshot),
	  SIZE(virtual_snapshot),
	  { "_ZN20VirtualMemorySummary9_snapshotE" } },
	{ SYM(tracking_level), NO_SIZE, { "_ZN10MemTracker15_tracking_levelE" } },
	{ SYM(boot_loader), NO_SIZE, { "_ZN15ClassLoaderData27_the_null_class_loader_dataE" } },
	{ SYM(tag_names), SIZE(tag_names), { "_ZN7NMTUtil18_memory_type_namesE" } },
	{ SYM(tag_pairs), SIZE(tag_pairs), { "_ZN7NMTUtil8_stringsE" } },
};

static void read_symbols(struct image *libjvm, uint64_t bias, struct vm_memory *memory)
{
	for (size_t i = 0; i < sizeof(symbol_rules) / sizeof(*symbol_rules); i++) {
		const struct symbol_rule *rule = &symbol_rules[i];
		uint64_t addr = 0, size = 0;

		for (size_t n = 0; n < NAMES_MAX && rule->names[n] && !addr; n++)
			if (!image_object(libjvm, rule->names[n], &addr, &size))
				addr += bias;
		memcpy((char *)&memory->symbol + rule->symbol, &addr, sizeof(addr));
		if (rule->size != NO_SIZE)
			memcpy((char *)&memory->size + rule->size, &size, sizeof(size));
	}
}

/* ---- opening */

static int read_tables(const struct target *t, const struct maps *maps, struct vm_memory *memory)
{
	const struct mapping *mapping = maps_find_file(maps, "libjvm.so");
	struct vmstructs_table tables[VMSTRUCTS_TABLES];
	const struct vm_type *type;
	struct vmstructs vm;
	struct image *image;
	int err;

	if (!mapping)
		return -ENOENT;
	err = image_open(t, mapping, &image);
	if (err)
		return err;
	err = vmstructs_locate(t, image, image_bias(image, mapping), tables);
	if (!err)
		err = vmstructs_read(t, tables, &vm);
	if (!err)
		read_symbols(image, image_bias(image, mapping), memory);
	image_close(image);
	if (err)
		return err;
	read_members(&vm, &memory->member);
	if (memory->member.cld_klasses == NO_MEMBER)
		read_klasses(&vm, memory);
	type = vmstructs_type(&vm, "ShenandoahHeap");
	memory->shenandoah_bytes = type ? type->size : 0;
	err = layout_read(&vm, t->pid, &memory->hotspot);
	vmstructs_free(&vm);
	return err || memory->member.collected_heap == NO_MEMBER ? -EPROTO : 0;
}

int vm_memory_open(const struct target *t, const struct maps *maps, const struct vm_kind *kind,
		   struct vm_memory **out)
{
	struct vm_memory *memory = calloc(1, sizeof(*memory));
	int err;

	if (!memory)
		return -ENOMEM;
	memory->target = t;
	memory->major = kind->major;
	snprintf(memory->gc, sizeof(memory->gc), "%s", kind->gc_name);
	err = read_tables(t, maps, memory);
	if (err) {
		vm_memory_close(memory);
		return err;
	}
	*out = memory;
	return 0;
}

void vm_memory_close(struct vm_memory *memory)
{
	free(memory);
}

/* ---- reading */

void memory_found(const struct memory_walk *walk, enum vm_use use, const char *what, uint64_t start,
		  uint64_t end)
{
	const struct vm_area area = { .use = use, .what = what, .start = start, .end = end };

	if (start && start < end)
		walk->found(&area, walk->ctx);
}

void memory_found_loose(const struct memory_walk *walk, enum vm_use use, const char *what,
			uint64_t start, uint64_t end)
{
	const struct vm_area area = {
		.use = use, .what = what, .start = start, .end = end, .loose = true
	};

	if (start && start < end)
		walk->found(&area, walk->ctx);
}

uint64_t memory_word(const struct memory_walk *walk, uint64_t base, uint64_t member)
{
	uint64_t value;

	if (member == NO_MEMBER || target_read_u64(walk->target, base + member, &value))
		return 0;
	return value;
}

uint32_t memory_words(const struct memory_walk *walk, uint64_t addr, uint64_t *words, uint32_t max)
{
	size_t size = max * sizeof(*words), left = MEMORY_PAGE - addr % MEMORY_PAGE;

	if (!addr)
		return 0;
	if (!target_read(walk->target, addr, words, size))
		return max;
	/* The object may be smaller, and its page the last that is present. */
	if (left >= size)
		return 0;
	memset(words, 0, size);
	return target_read(walk->target, addr, words, left & ~7ull) ? 0 : max;
}

static void find_java_heap(struct memory_walk *walk)
{
	const struct memory_members *m = &walk->memory->member;
	uint64_t words[2];

	walk->heap = memory_word(walk, 0, m->collected_heap);
	if (walk->heap && m->heap_reserved != NO_MEMBER &&
	    memory_words(walk, walk->heap + m->heap_reserved, words, 2) &&
	    words[1] < UINT64_MAX >> 4) {
		walk->heap_start = words[0];
		walk->heap_bytes = words[1] * 8;
	}
	/* ZGC: a file in memory, mapped where its addresses are, up to JDK 23 three times. */
	for (size_t i = 0; i < walk->maps->count; i++)
		if (strstr(walk->maps->items[i].path, "memfd:java_heap"))
			memory_found(walk, VM_JAVA_HEAP, "views of ZGC", walk->maps->items[i].start,
				     walk->maps->items[i].end);
	memory_found(walk, VM_JAVA_HEAP, "reserved heap", walk->heap_start,
		     walk->heap_start + walk->heap_bytes);
}

static void find_cds(const struct memory_walk *walk)
{
	const struct memory_members *m = &walk->memory->member;

	for (size_t i = 0; i < walk->maps->count; i++) {
		const struct mapping *mapping = &walk->maps->items[i];

		if (text_ends_with(mapping->path, ".jsa") || text_ends_with(mapping->path, ".aot"))
			memory_found(walk, VM_CDS, "archive file", mapping->start, mapping->end);
	}
	memory_found(walk, VM_CDS, "archive in memory", memory_word(walk, 0, m->shared_base),
		     memory_word(walk, 0, m->shared_top));
}

static void find_space(const struct memory_walk *walk, const char *what, uint64_t space)
{
	memory_found(walk, VM_CODE, what, memory_word(walk, space, walk->memory->member.space_low),
		     memory_word(walk, space, walk->memory->member.space_high));
}

static void find_code_heap(const struct memory_walk *walk, uint64_t heap)
{
	if (!heap)
		return;
	find_space(walk, "code heaps", heap + walk->memory->member.heap_memory);
	find_space(walk, "segment maps", heap + walk->memory->member.heap_segmap);
}

static void find_code(const struct memory_walk *walk)
{
	const struct memory_members *m = &walk->memory->member;
	uint64_t heaps[CODE_HEAPS_MAX], array;
	uint32_t count;

	if (m->heap_memory == NO_MEMBER || m->heap_segmap == NO_MEMBER)
		return;
	if (m->code_heaps == NO_MEMBER) {
		find_code_heap(walk, memory_word(walk, 0, m->code_heap));
		return;
	}
	array = memory_word(walk, 0, m->code_heaps);
	count = (uint32_t)memory_word(walk, array, m->array_length);
	if (!array || count > CODE_HEAPS_MAX)
		return;
	count = memory_words(walk, memory_word(walk, array, m->array_data), heaps, count);
	for (uint32_t i = 0; i < count; i++)
		find_code_heap(walk, heaps[i]);
}

int vm_memory_areas(struct vm_memory *memory, const struct maps *maps, vm_area_fn *found, void *ctx)
{
	struct memory_walk walk = { .memory = memory,
				    .target = memory->target,
				    .maps = maps,
				    .witnesses = &memory->witnesses,
				    .found = found,
				    .ctx = ctx };
	const struct memory_members *m = &memory->member;
	uint64_t start;

	if (!target_alive(memory->target))
		return -ESRCH;
	start = memory_word(&walk, 0, m->perf_start);
	memory_found(&walk, VM_PERF_DATA, "counters", start,
		     start + memory_word(&walk, 0, m->perf_capacity));
	find_java_heap(&walk);
	find_cds(&walk);
	find_code(&walk);
	memory_metaspace(&walk);
	memory_gc(&walk);
	if (memory->symbol.polling_page) {
		start = memory_word(&walk, memory->symbol.polling_page, 0) & ~(MEMORY_PAGE - 1ull);
		memory_found(&walk, VM_OTHER, "polling page", start, start + MEMORY_PAGE);
	}
	return 0;
}
