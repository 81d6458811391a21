/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MAPPINGS_H
#define JVMSCOPE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/jvs_mapping.h"
#include "live/budget.h"
#include "live/probes.h"
#include "model/table.h"

struct bpf_object;
struct calls;
struct decoder;
struct native;
struct process;
struct recording;

/*
 * What the VM reserves and commits, and the stacks of its threads, by who did: attaches
 * bpf/mapping.bpf.c, keeps the ranges, and makes rows of model/native.h of them.
 *
 * Ranges from before are not known: what is committed in them counts, and what is given back of
 * them does not. JDK 17 and before give what is reserved at an address its tag only later. In both
 * cases the tag is that of the area it is in, where the VM's tables tell of one.
 */

/* One range, with what it counts for at its site: a part that is given back takes its part along.
 */
struct mapped {
	uint64_t start;
	uint64_t end;
	int64_t bytes;
	uint64_t time_ns; /* CLOCK_MONOTONIC, when it began */
	uint32_t site;
	uint32_t tag; /* as the JVM numbers it */
};

/* Sorted, without overlap. A zeroed struct is a valid empty one. */
struct mapped_list {
	struct mapped *items; /* owned */
	size_t count;
	size_t capacity;
};

#define MAPPED_MAX	 65536	      /* ranges of one list; G1 commits region by region */
#define MAPPED_BYTES_MAX (1ull << 56) /* of one: no address space is larger */

struct mapped_site {
	/* the key */
	uint64_t stack; /* hash */
	uint32_t tag;
	uint32_t use; /* enum rec_native_use */
	/* */
	uint32_t rec_stack;
	uint32_t pad;
	int64_t blocks, bytes;
	int64_t freed_blocks, freed_bytes;
	int64_t told_blocks, told_bytes; /* to the totals, of what lives */
};

#define MAPPING_SETS 2 /* of libjvm, of libc */

struct mappings_target {
	struct probe_set sets[MAPPING_SETS];
	struct table sites; /* of struct mapped_site */
	struct mapped_list reserved, committed, stacks;
	struct mapped_list areas; /* by the VM's tables; they have a tag alone */
	uint64_t dropped;	  /* ranges over MAPPED_MAX, or of an impossible size */
	struct probe_budget budget;
	struct jvs_mapping_counts before; /* what the kernel counted for others in this place */
	struct jvs_mapping_control control;
	uint32_t areas_looks; /* for areas: a JVM that starts has not all of them */
	uint64_t areas_ns;    /* when the last was; CLOCK_MONOTONIC */
};

struct mappings {
	struct mappings_target targets[JVS_MAX_TARGETS];
};

/* ---- ranges */

/*
 * Takes [start, end) out, but not ranges that began after time_ns: those are of somebody else, who
 * was given the addresses since. Parts of ranges stay. Nothing is in a range that is empty.
 */
void mapped_remove(struct mappings_target *t, struct mapped_list *list, const struct mapped *gone);
/*
 * Adds a range in the place of what was there. Returns 0; -EEXIST when a part of it is of somebody
 * who began after it, or it is empty; -ENOSPC, -ENOMEM.
 */
int mapped_add(struct mappings_target *t, struct mapped_list *list, const struct mapped *range);
/* Adds those parts of a range that nobody has. Returns 0, -ENOSPC, -ENOMEM. */
int mapped_fill(struct mapped_list *list, const struct mapped *range);
/* What was made without a tag gets that of its area, now that areas are known. */
void mappings_retag(struct mappings_target *t);
/* The range that holds an address; NULL. */
const struct mapped *mapped_find(const struct mapped_list *list, uint64_t address);

/* ---- the rest of live */

/* One record, whatever came before it. stack: in the recording. */
void mappings_add(struct mappings *mappings, const struct jvs_mapped *record, uint32_t stack);

/* Rows of a target's sites, in addition to what there is. */
void mappings_tell(struct native *native, const struct decoder *d, const struct process *p,
		   struct recording *rec);

void mappings_forget(struct mappings *mappings, uint32_t target);
void mappings_free(struct mappings *mappings);

#endif
