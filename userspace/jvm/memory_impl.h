/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JVM_MEMORY_IMPL_H
#define JVMSCOPE_JVM_MEMORY_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout.h"
#include "jvm/memory.h"

/* Inside of memory.h: for memory*.c. */

#define MEMORY_PAGE 4096u

/* Offsets, or addresses of static members. NO_MEMBER: this JVM has none. */
#define NO_MEMBER UINT64_MAX

struct memory_members {
	uint64_t collected_heap; /* static, CollectedHeap* */
	uint64_t heap_reserved;	 /* MemRegion: start, words */
	uint64_t shared_base;	 /* static */
	uint64_t shared_top;	 /* static */
	uint64_t code_heaps;	 /* static */
	uint64_t code_heap;	 /* static, 8 */
	uint64_t array_length;
	uint64_t array_data;
	uint64_t heap_memory;
	uint64_t heap_segmap;
	uint64_t space_low;
	uint64_t space_high;
	uint64_t perf_start;	/* static */
	uint64_t perf_capacity; /* static */
	uint64_t cld_head;	/* static */
	uint64_t cld_klasses;
	uint64_t cld_next;
	uint64_t klass_next;
	uint64_t klass_layout;
	uint64_t klass_constants;
	uint64_t klass_super;
	uint64_t klass_subklass;
	uint64_t klass_sibling;
	uint64_t klass_mirror;	   /* a reference (8 to 9), or an OopHandle */
	uint64_t barrier_set;	   /* static */
	uint64_t heap_barrier_set; /* 8 */
	uint64_t card_table;
	uint64_t byte_map;
	uint64_t byte_map_size;
	uint64_t g1_hrm;
	uint64_t parallel_old; /* static */
	uint64_t shenandoah_regions;
};

/* Variables of libjvm that only .symtab knows; addresses in the target, 0: not there. */
struct memory_symbols {
	uint64_t nonclass_context;
	uint64_t class_context;
	uint64_t nonclass_list; /* to 15 */
	uint64_t class_list;
	uint64_t from_card_cache;
	uint64_t grain_bytes;
	uint64_t summary_data;
	uint64_t mark_bitmap;
	uint64_t z_stack_start;
	uint64_t z_stack_limit;
	uint64_t polling_page;
	uint64_t malloc_snapshot;
	uint64_t virtual_snapshot;
	uint64_t tracking_level;
	uint64_t tag_names;   /* to 17: an array of names */
	uint64_t boot_loader; /* ClassLoaderData* */
	uint64_t tag_pairs;   /* later: pairs of names, the second is shown */
};

/* How large some of them are, in the same order from malloc_snapshot on. */
struct memory_sizes {
	uint64_t summary_data, mark_bitmap, malloc_snapshot, virtual_snapshot, tag_names, tag_pairs;
};

#define MEMORY_KLASSES_MAX 64 /* static Klass pointers of 8 */

/* Addresses in mappings that hold classes: see memory_metaspace(). */
#define MEMORY_WITNESSES_MAX 4096
struct memory_witness {
	uint64_t addr;
	enum vm_use use;
};
struct memory_witnesses {
	struct memory_witness items[MEMORY_WITNESSES_MAX];
	uint32_t count;
	uint64_t newest_loader; /* at the last look */
};

struct vm_memory {
	const struct target *target;
	struct memory_members member;
	struct memory_symbols symbol;
	struct memory_sizes size;
	uint64_t shenandoah_bytes;	      /* sizeof(ShenandoahHeap) */
	uint64_t klasses[MEMORY_KLASSES_MAX]; /* 8: addresses of static Klass pointers */
	uint32_t klass_count;
	struct hotspot hotspot;
	int major;
	char gc[16];
	struct memory_witnesses witnesses;
};

/* What areas are told to while they are looked for. */
struct memory_walk {
	const struct vm_memory *memory;
	const struct target *target;
	const struct maps *maps;
	struct memory_witnesses *witnesses;
	vm_area_fn *found;
	void *ctx;
	uint64_t heap;	     /* CollectedHeap* */
	uint64_t heap_start; /* 0: not as one range */
	uint64_t heap_bytes;
};

void memory_found(const struct memory_walk *walk, enum vm_use use, const char *what, uint64_t start,
		  uint64_t end);

/* The same of an area that may be something else: it is claimed last. */
void memory_found_loose(const struct memory_walk *walk, enum vm_use use, const char *what,
			uint64_t start, uint64_t end);

/* A word at base + member, or 0: what is absent is as if it were none. */
uint64_t memory_word(const struct memory_walk *walk, uint64_t base, uint64_t member);

/* max words from an address on; 0 behind the last page that is present. Returns max, or 0. */
uint32_t memory_words(const struct memory_walk *walk, uint64_t addr, uint64_t *words, uint32_t max);

/* Metaspace and class space. */
void memory_metaspace(const struct memory_walk *walk);

/* The collector's tables. */
void memory_gc(const struct memory_walk *walk);

#endif
