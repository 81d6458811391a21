/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TABLES_H
#define JVMSCOPE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/jvs_abi.h"
#include "live/space.h"

struct unwind_rows;

#define TABLES_MAX_ROWS	    (1u << 20) /* 8 bytes each; libjvm, libc and friends of one JDK: 300 k */
#define TABLES_MAX_INDEX    (1u << 18) /* 8 bytes each; one libjvm: 70 k */
#define TABLES_MAX_MAPPINGS 8192       /* 48 bytes each; one JVM: 20 to 60, held twice */

/*
 * The BPF arrays that userspace fills through shared memory: no system call per entry, and a
 * program sees a change of one aligned word at once.
 */
struct tables {
	struct jvs_target *targets; /* [JVS_MAX_TARGETS] */
	struct jvs_mapping *mappings;
	struct jvs_row *rows;
	uint64_t *seen;	 /* [JVS_SEEN_STACKS] */
	uint64_t *index; /* BPF rounds its 4-byte values up to 8 */
	struct space mapping_space;
	struct space row_space;
	struct space index_space;
	int pids_fd;	/* u32 tgid to u32 target index */
	int threads_fd; /* u32 tid to u64 JavaThread* */
	uint32_t next_mapping_id;
	bool threads_full; /* was said */
};

struct table_fds {
	int targets, mappings, rows, index, pids, threads, seen;
};

/* Maps the arrays. Returns 0 or a negative errno, then logged. */
int tables_open(struct tables *tables, const struct table_fds *fds);
void tables_close(struct tables *tables);

/* The stack with this hash is sent again when it is met again. seen: as in struct tables. */
void tables_forget_stack(uint64_t *seen, uint64_t hash);

/* Where the rows of one image lie. */
struct table_image {
	struct extent rows;
	struct extent index;
};

/* Returns 0 or -ENOSPC, which leaves nothing taken. */
int tables_add_rows(struct tables *tables, const struct unwind_rows *rows, struct table_image *out);
void tables_remove_rows(struct tables *tables, struct table_image *image);

/* To be called after each change of a target's layout; a change of its mappings includes it. */
void tables_new_generation(struct tables *tables, uint32_t target);

/*
 * Writes count mappings to a fresh place and then lets the target see them in one store. The
 * place used before, *extent, is given back by the caller some time later: a program may still
 * be walking in it.
 */
int tables_set_mappings(struct tables *tables, uint32_t target, const struct jvs_mapping *mappings,
			uint32_t count, struct extent *extent);

#endif
