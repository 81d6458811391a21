/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_NATIVE_H
#define JVS_NATIVE_H

#include "jvs_abi.h"

/*
 * Native memory: what native.bpf.c and userspace agree on.
 *
 * The kernel keeps the accounts; nothing of an allocation goes through the ring but its stack, and
 * that once. A site is a stack, a memory tag and a use. Each block that is alive is in a map with
 * its site, so that a free, by whichever thread, is booked at the site that allocated it.
 */

/* What was probed: the low byte of the probe's cookie. */
enum jvs_native_probe {
	JVS_NATIVE_MALLOC = 1,	     /* (size, tag, ...) */
	JVS_NATIVE_STRDUP,	     /* (text, tag) */
	JVS_NATIVE_REALLOC,	     /* (block, size, tag, ...) */
	JVS_NATIVE_FREE,	     /* (block) */
	JVS_NATIVE_LIBC_MALLOC,	     /* (size) */
	JVS_NATIVE_LIBC_CALLOC,	     /* (count, size) */
	JVS_NATIVE_LIBC_REALLOC,     /* (block, size) */
	JVS_NATIVE_LIBC_ALIGNED,     /* (alignment, size) */
	JVS_NATIVE_LIBC_POSIX_ALIGN, /* (result, alignment, size) */
	JVS_NATIVE_LIBC_FREE,	     /* (block) */
	JVS_NATIVE_MALLOC_RESULT,    /* in os::malloc, behind libc's: see below */
};

/*
 * The cookie of JVS_NATIVE_MALLOC_RESULT also has the registers, numbered as by the machine, in
 * which the function keeps its size and its tag. The block is what libc's malloc returned.
 */
#define JVS_NATIVE_COOKIE_PROBE	 0xffu
#define JVS_NATIVE_COOKIE_FIRST	 8  /* its lowest bit; 8 bits */
#define JVS_NATIVE_COOKIE_SECOND 16 /* the same */

#define JVS_NATIVE_TAG_NONE 254u /* of a free: only its allocation had one */
#define JVS_NATIVE_TAG_LIBC 255u /* allocated by another than the VM: there is no tag */

/* What the bytes of a site are. */
enum jvs_native_use {
	JVS_NATIVE_HEAP,	 /* malloc */
	JVS_NATIVE_UNKNOWN_FREE, /* frees of blocks from before, by who freed them */
};

#define JVS_NATIVE_ONE 256u /* one block: sampled ones count for several, and for fractions */

struct jvs_native_site {
	__u64 stack; /* hash of its frames; 0: not known */
	__u32 target;
	__u16 tag; /* as the JVM numbers it, or JVS_NATIVE_TAG_LIBC */
	__u16 use; /* enum jvs_native_use */
	/* Blocks in JVS_NATIVE_ONE. Those that are alive are allocated - freed - untracked. */
	__u64 allocated_blocks;
	__u64 allocated_bytes;
	__u64 freed_blocks;
	__u64 freed_bytes;
	__u64 untracked_blocks; /* allocated while the map was full: their end will not be seen */
	__u64 untracked_bytes;
	__u64 variance; /* of allocated_bytes, from sampling; in units of JVS_NATIVE_VARIANCE */
	__s64 low;	/* bytes alive behind a free, the fewest since userspace set it anew */
};
_Static_assert(sizeof(struct jvs_native_site) == 80, "no holes");
#define JVS_NATIVE_VARIANCE 4096u /* bytes squared */

#define JVS_NATIVE_SITES  32768	      /* site 0 is not used; sized again at load */
#define JVS_NATIVE_NOBODY 0xffffffffu /* target of a site that waits to be used again */
#define JVS_NATIVE_LIVE	  262144      /* blocks; sized again at load */

struct jvs_native_site_key {
	__u64 stack;
	__u32 target;
	__u16 tag;
	__u16 use;
};
_Static_assert(sizeof(struct jvs_native_site_key) == 16, "no holes");

/* Key of a block: its address, and the target above JVS_ADDRESS_BITS. */
struct jvs_native_block {
	__u64 bytes;  /* what it stands for: more than its size when it was sampled */
	__u32 blocks; /* the same, in JVS_NATIVE_ONE */
	__u32 site;
	__u32 time; /* CLOCK_MONOTONIC >> JVS_NATIVE_TIME_SHIFT */
	__u32 pad;
};
_Static_assert(sizeof(struct jvs_native_block) == 24, "no holes");
#define JVS_NATIVE_TIME_SHIFT 20 /* about a millisecond */

enum jvs_native_mode {
	JVS_NATIVE_OFF,
	JVS_NATIVE_EXACT,   /* each block, with its stack */
	JVS_NATIVE_SAMPLED, /* one of so many bytes */
	JVS_NATIVE_COUNTED, /* each block, without a stack, and not followed to its end */
};

#define JVS_NATIVE_UNFOLLOWED 0x100u /* or-ed: what becomes of the blocks is not seen */

/* Written by userspace, for each target. */
struct jvs_native_control {
	__u32 mode;
	__u32 epoch;	/* of the links: a call that began in another has no return to wait for */
	__u64 interval; /* bytes between two samples, in the mean */
};
_Static_assert(sizeof(struct jvs_native_control) == 16, "no holes");

/* X(NAME, "name in outputs"): of a target, on each CPU. */
#define JVS_NATIVE_COUNTER_LIST(X)                                                             \
	X(ENTRIES, "entries")	      /* programs run at entry */                              \
	X(RETURNS, "returns")	      /* and at return */                                      \
	X(RUN_NS, "run_ns")	      /* their time */                                         \
	X(ALLOCATIONS, "allocations") /* seen and booked */                                    \
	X(ALLOCATED_BYTES, "allocated_bytes")                                                  \
	X(FREES, "frees")		  /* of blocks that were followed */                   \
	X(UNKNOWN_FREES, "unknown_frees") /* of blocks from before, or not sampled */          \
	X(FAILED, "failed")		  /* allocations that returned nothing */              \
	X(NESTED, "nested")		  /* within another allocation: the same block */      \
	X(NO_RETURN, "unseen_returns")	  /* calls lost: they have returned without a probe */ \
	X(SKIPPED, "skipped")		  /* not sampled */                                    \
	X(UNSEEN_FREES, "unseen_frees")	  /* a block's address was given out again */          \
	X(LIVE_FULL, "live_full")	  /* blocks that found no place in the map */          \
	X(SITES_FULL, "sites_full")	  /* blocks at sites that found none */                \
	X(RECALLED, "recalled_stacks")	  /* the same as one that was walked before */         \
	X(STACK_BUSY, "stack_slot_busy")  /* stacks that were not taken */                     \
	X(STACK_FULL, "stack_ring_full")  /* stacks that did not fit; they are sent again */   \
	X(NO_STATE, "no_thread_state")	  /* blocks lost: memory for the thread's state is out */

enum jvs_native_counter {
#define X(name, text) JVS_NATIVE_COUNT_##name,
	JVS_NATIVE_COUNTER_LIST(X)
#undef X
		JVS_NATIVE_COUNT_NR,
};

struct jvs_native_counts {
	__u64 values[JVS_NATIVE_COUNT_NR];
};

/* Tables of functions that BPF cannot compute; made by live/native.c. */
#define JVS_NATIVE_TABLE      256
#define JVS_NATIVE_TABLE_ONE  65536u
#define JVS_NATIVE_WEIGHT_MAX 16u /* a block of so many intervals is always sampled */

#endif
