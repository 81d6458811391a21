/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_NATIVE_H
#define JVMSCOPE_LIVE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/jvs_native.h"
#include "live/calls.h"
#include "live/governor.h"
#include "live/mappings.h"
#include "live/probes.h"
#include "live/slices.h"
#include "model/growth.h"

struct bpf_object;
struct decoder;
struct live_status;
struct maps;
struct process;
struct recording;

/*
 * Native memory of the targets: attaches bpf/native.bpf.c to their libjvm, and to their libc when
 * that is asked for, and turns the kernel's accounts into rows of model/native.h.
 */

#define NATIVE_TAGS_MAX	    64 /* 28 in JDK 25 */
#define NATIVE_TAG_NAME_MAX 32

/* Of libjvm and of libc: first what allocates, then what frees. */
#define NATIVE_SETS 4

struct native_target {
	struct probe_set sets[NATIVE_SETS];
	bool tried[NATIVE_SETS]; /* to attach: it is done once a program */
	bool early;		 /* attached to libjvm's file before it was mapped */
	bool begun;		 /* to keep the budget */
	bool live_lost;		 /* blocks were freed unseen: what lives is not known any more */
	bool over;		 /* it has ended, and its accounts are in the recording */
	struct jvs_native_counts before; /* what the kernel counted for others in this place */
	struct governor governor;
	uint64_t interval; /* bytes between samples */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t start_cost_ns;
	uint64_t allocations; /* booked so far, as the kernel counts */
	uint64_t allocated_bytes;
	uint64_t state_ns[REC_NATIVE_STATE_NR];
	/* CPU time of the target without that of the probes, which may go on in between: */
	uint64_t start_work_ns;
	uint64_t now_work_ns;
	uint64_t sliced_from_ns; /* when slices began */
	uint64_t sliced_seen_ns; /* in slices that are over */
	uint64_t slice_end_ns;	 /* CLOCK_MONOTONIC, when this slice is over; 0: there is none */
	uint64_t slice_work_ns;	 /* when this slice began */
	uint64_t sliced_cost_ns; /* of the probes, in all slices */
	uint64_t slices_work_ns; /* of the target, in all slices */
	uint64_t gone_ns;	 /* unseen between slices, before these */
	struct slices slices;
	struct slices_sum slices_all, slices_tags[NATIVE_TAGS_MAX + 1]; /* the last: all others */
	bool unestimated;	   /* the sums allocated are of what was seen alone */
	double error_pct;	   /* their standard error, by slices */
	struct growth_clock clock; /* of the levels of its sites */
	struct native_tag {
		char name[NATIVE_TAG_NAME_MAX];
	} tags[NATIVE_TAGS_MAX]; /* as the JVM numbers them */
	uint32_t tag_count;
	uint64_t tag_table; /* in the target; 0: all were read, or there is none */
	uint32_t tag_step;  /* words from one name to the next */
	bool tried_mappings[MAPPING_SETS];
	struct table retired; /* of struct native_retired */
	uint64_t retire_ns;   /* when quiet sites were looked for; CLOCK_MONOTONIC */
};

/* Of a site, an estimate: allocated between slices of time, and its standard error. */
struct native_unseen {
	double blocks;
	double bytes;
	double error_bytes;
};

/* A site of the kernel, as far as the recording knows it. */
struct native_site {
	uint32_t id; /* of the recording, which adds up sites of equal stacks; 0: not yet there */
	uint32_t stack;
	int64_t told_blocks[2]; /* to the totals: allocated, live */
	int64_t told_bytes[2];
	uint64_t slice_bytes; /* allocated when a slice began or ended last */
	struct slices_sum slices;
	int64_t looked_at;	    /* bytes that lived at the last look */
	struct growth_level *level; /* owned; of the bytes that live. NULL: there were few */
	/* See native_retire(). */
	uint64_t seen;	   /* blocks allocated and freed */
	uint64_t quiet_ns; /* since when they are so many; CLOCK_MONOTONIC */
	bool unlisted;	   /* the kernel does not find it any more */
};

/* Sites that gave up their places, added up. */
struct native_retired {
	/* the key */
	uint64_t hash; /* of the stack */
	uint32_t stack;
	uint32_t tag; /* string of the recording */
	uint32_t use; /* enum rec_native_use */
	uint32_t pad;
	/* */
	uint32_t id; /* of the recording's site */
	struct rec_native_site sum;
	struct native_unseen unseen; /* not in sum */
	struct growth_level *level;  /* owned */
};

/*
 * Places of sites whose program has ended. A call that was under way may still book there, so they
 * are used again only after a while.
 */
struct native_resting {
	uint32_t *ids; /* owned */
	uint32_t count;
	uint32_t capacity;
	uint32_t older;	   /* so many, the first ones, came before: */
	uint64_t since_ns; /* CLOCK_MONOTONIC; 0: not looked at yet */
};
#define NATIVE_REST_NS 1000000000ull /* at least so long */

struct native {
	struct bpf_object *object;	     /* borrowed */
	struct jvs_native_control *controls; /* mapped; [JVS_MAX_TARGETS] */
	uint32_t max_sites;		     /* of all targets at once */
	struct jvs_native_site *sites;	     /* mapped; [max_sites] */
	uint64_t *site_count;		     /* mapped */
	int counts_fd;
	int live_fd;
	int ids_fd;  /* of sites */
	int free_fd; /* of their places */
	struct native_resting resting;
	bool nearly_full; /* places for sites are rare */
	uint64_t now_ns;  /* of the last native_tick_all() */
	enum probe_links links;
	bool libc;
	double max_overhead;	   /* per cent of a core; 0: no limit */
	double trap_ns;		   /* what a hit costs beside its program */
	struct native_site *known; /* owned; [max_sites] */
	uint32_t unresolved;	   /* sites below are all known */
	struct calls calls;	   /* of their stacks */
	bool waits;		   /* for stacks: the recording goes on after native_finish() */
	struct native_target targets[JVS_MAX_TARGETS];
	struct mappings mappings; /* what the VM maps, of all targets */
	int mapping_counts_fd, mapping_controls_fd;
};

/* How much of all targets has a place at once; 0: a default. */
struct native_sizes {
	uint32_t live_blocks;
	uint32_t sites;
};

/*
 * Before the object is loaded: which programs and maps are wanted, and how large. wanted false:
 * nothing of it is loaded. Returns 0 or a negative errno.
 */
int native_choose(struct bpf_object *object, const struct native_sizes *sizes, bool wanted);

/* What BPF cannot compute: see bpf/native_sample.h. Both have JVS_NATIVE_TABLE + 1 places. */
void native_fill_tables(uint32_t *log, uint32_t *weight);

struct native_options {
	bool libc;
	double max_overhead;
};

/* After it: *out is to be closed. */
int native_open(struct bpf_object *object, const struct native_options *options,
		struct native **out);
void native_close(struct native *native);

/* From now on nothing is probed any more: the links go to those that are given up. */
void native_give_up(struct native *native, struct probes_leaving *leaving);

/*
 * Attaches to a target's libjvm and libc, as soon as they are mapped; once. Failures are logged,
 * and the recording goes on without.
 */
void native_attach(struct native *native, const struct process *p, const struct maps *all);

/*
 * The same for libjvm before the program runs, with the mapping that it will have: then no block
 * is from before. native_attach() does the rest.
 */
void native_attach_early(struct native *native, const struct process *p, struct image *libjvm,
			 const struct mapping *mapping);

/* Whether that was tried with all that is wanted. */
bool native_attached(const struct native *native, const struct process *p);

/* What needs doing ten times a second, once: stacks get their names, places are given back. */
void native_tick_all(struct native *native, struct decoder *d, uint64_t now_ns);

/* The same for each target: the budget is looked at. */
void native_tick(struct native *native, struct decoder *d, struct process *p,
		 struct recording *rec);

/* The next end of a slice of time, CLOCK_MONOTONIC; 0: none is going on. */
uint64_t native_slice_end_ns(const struct native *native);

/* Ends those that are over. A tick does so, too, but mostly later. */
void native_look_at_slices(struct native *native, struct decoder *d, struct recording *rec,
			   uint64_t now_ns);

/* The accounts so far; totals of sites whose stack is still to come only when nothing waits. */
void native_finish(struct native *native, struct decoder *d, const struct process *p,
		   struct recording *rec);

/* Its part of the status of the whole; nothing before probes are attached. */
void native_status(const struct native *native, struct live_status *status);

/* From its return on nothing is booked any more. */
void native_stop(struct native *native, const struct process *p);

/* The target runs another program, or its place is given to another: its accounts begin anew. */
void native_forget(struct native *native, const struct process *p);

/* It has ended, and native_finish() has told of it: what it had is free for others. */
void native_leave(struct native *native, const struct process *p);

#endif
