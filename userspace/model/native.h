/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_NATIVE_H
#define JVMSCOPE_MODEL_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/growth.h"

struct recording;

/*
 * Native memory of a recording: who allocated it, what of it lives, and how much of that was seen.
 *
 * Ids are 1..count and 0 is none, as everywhere in the recording. Strings and stacks are ids of
 * the recording. The totals native_alloc and native_live have the same by stack and tag alone.
 */

#define REC_NATIVE_LIBC_TAG   "libc" /* of what others than the VM allocate */
#define REC_MAX_NATIVE_SITES  (1u << 18)
#define REC_MAX_BUDGET_EVENTS (1u << 16)
#define REC_MAX_BUDGETS	      (1u << 13)
#define REC_MAX_NATIVE_COUNTS (1u << 14)
#define REC_MAX_SUSPECTS      (1u << 16)
#define REC_NATIVE_AGES \
	8 /* of live blocks: below 1 s, 10 s, 1 min, 10 min, 1 h, 1 d, 1 week, above */

enum rec_native_use {
	REC_NATIVE_HEAP,	 /* malloc */
	REC_NATIVE_UNKNOWN_FREE, /* freed here, allocated before the recording */
	REC_NATIVE_RESERVED,	 /* address space, by the VM */
	REC_NATIVE_COMMITTED,	 /* of it, what may be used */
	REC_NATIVE_STACK,	 /* of threads, by who started them; not what of it was used */
	REC_NATIVE_USE_NR,
};
const char *rec_native_use_name(enum rec_native_use use);
int rec_native_use_find(const char *name); /* -1: there is none of that name */

/* Blocks and bytes while the recording went on. Estimates, when blocks were sampled. */
struct rec_native_site {
	uint32_t jvm;
	uint32_t stack; /* 0: it was lost */
	uint32_t tag;	/* string id: "Other", as the JVM spells it; "libc" */
	enum rec_native_use use;
	int64_t allocated_blocks;
	int64_t allocated_bytes;
	int64_t freed_blocks;
	int64_t freed_bytes;
	int64_t untracked_blocks; /* allocated, but what became of them is not known */
	int64_t untracked_bytes;
	double error_bytes;	  /* standard error of allocated_bytes by sampling; 0: exact */
	double slice_error_bytes; /* and by slices of time: those saw all sites, so it adds up */
	int64_t ages[REC_NATIVE_AGES]; /* bytes that live, by age */
	int64_t oldest_ns;	       /* of those */
};

/* What was allocated by a site and lives. What it freed of others' is nothing of it. */
static inline int64_t rec_native_live_blocks(const struct rec_native_site *site)
{
	if (site->use == REC_NATIVE_UNKNOWN_FREE)
		return 0;
	return site->allocated_blocks - site->freed_blocks - site->untracked_blocks;
}

static inline int64_t rec_native_live_bytes(const struct rec_native_site *site)
{
	if (site->use == REC_NATIVE_UNKNOWN_FREE)
		return 0;
	return site->allocated_bytes - site->freed_bytes - site->untracked_bytes;
}

/*
 * Any number as one that a block, a site or a ledger can have: files may say others. It is far
 * beyond every address space, and so far from the ends of the type that sums of some do not reach
 * them.
 */
#define REC_BYTES_MAX (1ll << 56)
static inline int64_t rec_bytes(int64_t value)
{
	if (value > REC_BYTES_MAX)
		return REC_BYTES_MAX;
	return value < -REC_BYTES_MAX ? -REC_BYTES_MAX : value;
}

/* Adds the numbers of a site to those of another, without its ages. */
void rec_native_site_add(struct rec_native_site *to, const struct rec_native_site *from);

/*
 * Adds to the site of the same JVM, stack, tag and use, made when it is new. Returns the id, 0 when
 * memory is out or there are too many, which the quality "info" counts.
 */
uint32_t rec_native_site(struct recording *rec, const struct rec_native_site *site);
/* Sets all numbers of a JVM's sites to 0: they are told anew. */
void rec_native_forget_sites(struct recording *rec, uint32_t jvm);
struct rec_native_site *rec_native_site_get(const struct recording *rec, uint32_t id);
uint32_t rec_native_site_count(const struct recording *rec);

/* All sites of a JVM with one tag. */
struct rec_native_tag {
	struct rec_native_site sum;	     /* without stack, use and ages, and without: */
	int64_t unknown_frees;		     /* blocks freed that were allocated before */
	int64_t reserved, committed, stacks; /* bytes that the VM has mapped; not in sum */
};
/* *out is the caller's to free. Returns how many there are, or -ENOMEM. */
ssize_t rec_native_tags(const struct recording *rec, struct rec_native_tag **out);

/* What the kernel counted, of a JVM. */
void rec_native_count_set(struct recording *rec, uint32_t jvm, const char *name, uint64_t value);
const struct rec_count *rec_native_counts(const struct recording *rec, size_t *count);

/* ---- the budget of probes */

/* How much is recorded of a JVM's native memory, of its class loads, from all to nothing. */
enum rec_native_state {
	REC_NATIVE_EXACT,
	REC_NATIVE_SAMPLED,  /* one block of so many bytes; each class or mapping without a stack */
	REC_NATIVE_SLICES,   /* the same, and only some of the time */
	REC_NATIVE_COUNTERS, /* the same without stacks; classes are counted alone */
	REC_NATIVE_DETACHED,
	REC_NATIVE_STATE_NR,
};
const char *rec_native_state_name(enum rec_native_state state);
int rec_native_state_find(const char *name); /* -1: there is none */

/* Whose probes: each group has its state, the budget is one. */
enum rec_probe_group {
	REC_PROBES_NATIVE,
	REC_PROBES_CLASS,
	REC_PROBES_MAPPING, /* what the VM maps */
	REC_PROBES_GC,
	REC_PROBES_SAFEPOINT,
	REC_PROBES_LOCK,
	REC_PROBES_THREAD,
	REC_PROBES_JIT,
	REC_PROBES_EXCEPTION,
	REC_PROBES_OFFCPU,
	REC_PROBES_ALLOC, /* the Java heap */
	REC_PROBES_IO,
	REC_PROBES_NR,
};
const char *rec_probe_group_name(enum rec_probe_group group);
int rec_probe_group_find(const char *name); /* -1: there is none */

struct rec_native_budget {
	enum rec_probe_group group;
	uint32_t jvm;
	double limit_pct;      /* of one core; 0: none */
	double cost_pct;       /* mean of the last seconds */
	double total_cost_pct; /* mean of the recording */
	enum rec_native_state state;
	int64_t attached_ns; /* when the first probe was there; 0: never */
	uint64_t state_ns[REC_NATIVE_STATE_NR];
	uint64_t watched_cpu_ns; /* CPU time of the JVM while its probes were attached */
	uint64_t all_cpu_ns;	 /* and all since they were first */
	uint64_t interval;	 /* bytes between samples, in the mean; 0: exact */
	bool estimated; /* sums allocated are those of all the time, not only of what was seen */
	/* Standard error by slices of time of the sum of all, or of a tag with much of it; 0: none
	 */
	double error_pct;
	int64_t live_bytes; /* at all sites, a moment ago */
	int64_t live_blocks;
	bool live_known; /* every block since attached_ns was followed, or a fair sample of them */
};
/* The row of a JVM, made when it is new; NULL when memory is out. */
struct rec_native_budget *rec_budget(struct recording *rec, enum rec_probe_group group,
				     uint32_t jvm);
struct rec_native_budget *rec_native_budget(struct recording *rec, uint32_t jvm);
/* Of all groups. */
const struct rec_native_budget *rec_native_budgets(const struct recording *rec, size_t *count);

/* The same, but NULL when there is none. */
const struct rec_native_budget *rec_native_budget_get(const struct recording *rec, uint32_t jvm);

/* Whether what lives is told of a JVM's blocks: not where too little was followed. */
bool rec_native_live_known(const struct recording *rec, uint32_t jvm);
/* The same of what the VM has mapped. */
bool rec_mapped_known(const struct recording *rec, uint32_t jvm);
/* And of a site of either. */
bool rec_site_live_known(const struct recording *rec, const struct rec_native_site *site);

/* Why a state changes. */
enum rec_budget_reason {
	REC_BUDGET_OVER,  /* probes cost more than the limit */
	REC_BUDGET_SLICE, /* a short slice of time costs more than several windows may */
	REC_BUDGET_CHEAP, /* more can be recorded within the limit */
	REC_BUDGET_RETRY, /* after a while without probes */
	REC_BUDGET_REASON_NR,
};
const char *rec_budget_reason_name(enum rec_budget_reason reason);
int rec_budget_reason_find(const char *name); /* -1: there is none */

/* Each change of the state. */
struct rec_budget_event {
	enum rec_probe_group group;
	int64_t time_ns;
	uint32_t jvm;
	enum rec_native_state from;
	enum rec_native_state to;
	enum rec_budget_reason reason;
	double cost_pct;  /* of the last seconds */
	double limit_pct; /* what it may be */
};
void rec_budget_event(struct recording *rec, const struct rec_budget_event *event);
const struct rec_budget_event *rec_budget_events(const struct recording *rec, size_t *count);

/* "native exact -> slices after 2.1 s, over_limit: 9.40 % of a core, limit 2.00 %"; returns to. */
#define REC_BUDGET_TEXT_MAX 160
const char *rec_budget_event_text(const struct recording *rec, const struct rec_budget_event *event,
				  char to[REC_BUDGET_TEXT_MAX]);

/* ---- suspects: what may leak */

#define REC_TOLD_SUSPECTS 100 /* the first ones: so many are in a file */

/*
 * Sites whose stacks call the same methods at the same places, however those were compiled: over
 * the recording their bytes move from one such site to the next. Those that never had 1 KiB that
 * lives are left out.
 */
struct rec_native_suspect {
	uint32_t jvm;
	uint32_t stack; /* of the site of them that has the most bytes that live */
	uint32_t tag;	/* string id */
	uint32_t sites;
	int64_t live_blocks;
	int64_t live_bytes;
	int64_t ages[REC_NATIVE_AGES]; /* see struct rec_native_site */
	int64_t oldest_ns;
	enum growth_kind kind;
	double bytes_per_minute;
	uint64_t survived; /* collections, by the older half of the bytes */
};
void rec_native_suspect(struct recording *rec, const struct rec_native_suspect *suspect);
void rec_native_forget_suspects(struct recording *rec, uint32_t jvm);

/*
 * Those that look like leaks first, the fastest of them first; then the others by their size.
 * Changes the order of what is kept. Valid until one is added.
 */
const struct rec_native_suspect *rec_native_suspects(const struct recording *rec, size_t *count);

/* Whether there is anything of the above, but of other groups. */
bool rec_has_native(const struct recording *rec);

/* ---- for recording*.c */

struct rec_native;
void rec_native_free(struct rec_native *native);
/* Puts what change() says in the place of each stack. */
void rec_native_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
			   void *ctx);

#endif
