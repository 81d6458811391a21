/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_NATIVE_IMPL_H
#define JVMSCOPE_NATIVE_IMPL_H

#include "base/map64.h"
#include "live/native.h"

struct image;
struct mapping;
struct maps;

/* Inside of native*.c. */

/* The names of the VM's memory tags, from the JVM itself: their numbers differ from JDK to JDK. */
void native_read_tags(struct native_target *t, const struct process *p, struct image *libjvm,
		      const struct mapping *mapping);

/* The name of a tag as a string of the recording. */
uint32_t native_tag(struct native_target *t, struct recording *rec, uint32_t tag);

/* The budget of a target, from when its probes are attached. */
void native_begin_budget(struct native *native, const struct process *p);
void native_keep_budget(struct native *native, struct decoder *d, const struct process *p,
			struct recording *rec);
void native_tell_budget(struct native *native, const struct decoder *d, const struct process *p,
			struct recording *rec);

/* Calls do_site for each site of a target. */
typedef void native_site_fn(struct jvs_native_site *site, struct native_site *known,
			    const void *ctx);
void native_each_site(struct native *native, uint32_t target, native_site_fn *do_site,
		      const void *ctx);

/* native_slices.c, all at t->now_work_ns: from now on not all is watched. */
void native_start_slices(struct native *native, uint32_t target);
/* A slice begins, and its probes are there; it is over, and they are still there. */
void native_begin_slice(struct native *native, uint32_t target);
void native_end_slice(struct native *native, uint32_t target);
/*
 * Whether what was seen says how much there was: see live/slices.h. Also not where probes took more
 * of the target's time than its own work, which is then the small difference of two large times.
 */
void native_judge_slices(const struct native *native, uint32_t target, struct native_target *t);
/* What a site allocated unseen. */
void native_read_unseen(const struct native_target *t, const struct jvs_native_site *site,
			const struct native_site *known, struct native_unseen *out);
/* Adds it, where it is an estimate. */
void native_add_unseen(const struct native_target *t, const struct native_unseen *unseen,
		       struct rec_native_site *row);

/* Looks at what lives at each site of a target, when it is time to, or now. */
void native_follow(struct native *native, const struct process *p, bool now);
/* What lives at all sites of a target at this moment, for the budget's row and the timeline. */
void native_tell_live(struct native *native, const struct decoder *d, const struct process *p,
		      struct recording *rec);

/* What those looks say, for rows of suspects; between open and tell come the blocks. */
struct native_growths {
	const struct growth_clock *clock;
	uint32_t jvm;
	struct native_growth **of_site; /* owned; by id of the recording's site */
	uint32_t sites;
	struct native_growth **items; /* owned, and each one */
	uint32_t count;
	struct map64 by_shape; /* of stacks, to items */
};
void native_growths_open(struct native *native, const struct process *p,
			 const struct recording *rec, struct native_growths *out);

/* A block that lives. */
struct native_age {
	int64_t bytes;
	int64_t ns;	  /* its age */
	uint64_t born_ns; /* CLOCK_MONOTONIC */
	int place;	  /* in a histogram of ages */
};
void native_growths_block(struct native_growths *growths, uint32_t id,
			  const struct native_age *age);
/* Also frees. */
void native_growths_tell(struct native_growths *growths, struct recording *rec);

/* What is done with a block of a target that lives. */
typedef void native_block_fn(uint64_t key, const struct jvs_native_block *block, void *ctx);
void native_each_block(const struct native *native, uint32_t target, native_block_fn *do_block,
		       void *ctx);

/* Sites below this number are, or were, in use. */
uint32_t native_site_count(const struct native *native);

/* native_sites.c: forgets the accounts of a target, whose probes are gone. */
void native_drop_accounts(struct native *native, uint32_t target);
/* Gives places back that have rested for long enough. */
void native_give_back(struct native *native, uint64_t now_ns);
/*
 * Where places are rare: sites of which nothing lives, and at which nothing was done for a while,
 * give theirs up. Their numbers stay in t->retired.
 */
void native_retire(struct native *native, const struct process *p, struct recording *rec);
void native_tell_retired(struct native *native, const struct process *p, struct recording *rec);
void native_free_retired(struct native_target *t);
typedef void native_retired_fn(struct native_retired *retired, void *ctx);
void native_each_retired(const struct native_target *t, native_retired_fn *do_retired, void *ctx);

/* A site as the recording has it, without its id, and without what was not seen. */
void native_read_site(struct native *native, const struct process *p, struct recording *rec,
		      uint32_t number, struct rec_native_site *out);
/* What came to it since, into the totals. live_known false: what lives is withheld. */
void native_tell_totals(struct recording *rec, const struct rec_native_site *site,
			struct native_site *known, bool live_known);

/* Attaches the probes on what the VM maps: native_mappings.c. */
void native_attach_mappings(struct native *native, const struct process *p, const struct maps *all);
void native_forget_mappings(struct native *native, uint32_t target);
/* Before native_keep_budget(): what these probes cost is not there for those. */
void native_keep_mappings(struct native *native, const struct decoder *d, struct process *p,
			  struct recording *rec);

/* mappings_before.c: finds the areas of a target, when it is time to, or now. */
void native_know_areas(struct native *native, const struct process *p, bool now);

/* All counters of a target, summed over all CPUs. */
void native_counts(const struct native *native, uint32_t target, struct jvs_native_counts *out);

#endif
