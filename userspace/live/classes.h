/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_CLASSES_H
#define JVMSCOPE_LIVE_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"
#include "base/strbuf.h"
#include "bpf/jvs_class.h"
#include "jvm/agents.h"
#include "live/budget.h"
#include "live/probes.h"
#include "model/classes.h"
#include "trie/trie.h"

struct bpf_object;
struct decoder;
struct image;
struct mapping;
struct process;
struct recording;

/*
 * Class loads of the targets: attaches bpf/class.bpf.c to their libjvm, gives it what it must know
 * of each JVM, and turns its records into rows of model/classes.h.
 *
 * Classes that were loaded before a JVM could be read are sent without a name: they are kept until
 * it can be, which is some ten milliseconds later.
 */

/* A load that came before its JVM could be read. */
struct class_early {
	uint64_t klass;
	uint64_t time_ns; /* as in the record */
	uint32_t tid;
};

/* The class file of a change, before and after, that is coming in. */
struct class_file {
	uint64_t id;	   /* 0: free */
	uint8_t *bytes[2]; /* owned */
	uint32_t total[2];
	uint32_t have[2];
};
#define CLASS_FILES 16 /* at once; the oldest gives way */

/* An agent, by its address in the JVM, with what was seen of it. */
struct class_agent {
	uint64_t address;
	int64_t begin_ns;
	uint64_t took_ns; /* of one that was attached while we looked */
	uint32_t row;	  /* of the recording; 0: the JVM does not list it (yet) */
};

/* A call of premain: the n-th is of the n-th agent in Java. */
struct class_premain {
	int64_t begin_ns;
	uint64_t took_ns; /* 0: it runs */
};

/* What is attached and detached together. */
enum class_set {
	CLASS_SET_COUNTS, /* loads and unloads */
	CLASS_SET_FACTS,  /* what is known of them beside their name */
	CLASS_SET_START,  /* agents and main; until main has begun */
	CLASS_SET_PHASES, /* reading, linking, initializing: given up first */
	CLASS_SETS,
};

struct class_target {
	struct probe_set sets[CLASS_SETS];
	bool tried;	      /* to attach: it is done once a program */
	struct map64 live;    /* Klass* to class id, or to the site of one that is not listed */
	struct map64 loaders; /* address and generation to loader id */
	struct class_early *early; /* owned */
	size_t early_count;
	size_t early_capacity;
	uint64_t early_lost;   /* for which there was no room */
	uint64_t early_arrays; /* they are no classes */
	struct class_file files[CLASS_FILES];
	uint32_t next_file;
	struct map64 changes; /* id of files that were compared to the change */
	struct map64 by_name; /* name and class of a loader that lives to its id: see on_loader() */
	uint64_t *ended;      /* owned; keys of loaders that are gone, the oldest first */
	uint32_t ended_count;
	uint64_t before[JVS_CLASS_COUNT_NR]; /* what the kernel counted for others in this place */
	bool placed;			     /* agents_place is known, or cannot be */
	struct agents_place agents_place;
	uint64_t agents_mark; /* of the list as it was read last; 0: it was not */
	struct class_agent agents[AGENTS_MAX];
	uint32_t agent_count;
	bool options_taken; /* agents are those of the command line */
	bool in_main;	    /* the program's main has begun */
	struct class_premain premains[AGENTS_MAX];
	uint32_t premain_count;
	struct probe_budget budget;
	bool uncounted;	 /* the probes that count are too dear, too */
	bool counted;	 /* no class is told: unloads are not seen */
	uint32_t unsure; /* class ids up to this one may be in live though they were unloaded */
};

/* Classes of the early time that a rule ignores, beside those the kernel counts. */
struct class_ignored {
	struct rec_class_rule *rules; /* owned */
	size_t count;
	size_t capacity;
};

struct classes {
	struct bpf_object *object;	  /* borrowed */
	struct jvs_class_layout *layouts; /* mapped; [JVS_MAX_TARGETS] */
	size_t layouts_size;
	int counts_fd;
	int rules_fd;
	int loaders_fd;
	int hooked_fd;
	int modes_fd;
	enum probe_links links;
	double max_overhead; /* per cent of a core; 0: no limit */
	double trap_ns;	     /* what a hit costs beside its program */
	struct trie trie;    /* 0 units: every class is listed */
	struct class_target targets[JVS_MAX_TARGETS];
	struct class_ignored ignored;
	struct strbuf normal, raw, text; /* scratch */
	uint64_t lost_stack;
};

/*
 * Before the object is loaded: which programs and maps are wanted, and how large. trie: classes its
 * rules call a library's are counted and not listed; NULL: all are listed. wanted false: nothing
 * of it is loaded. Returns 0 or a negative errno.
 */
int classes_choose(struct bpf_object *object, const struct trie *trie, bool wanted);

/* After it: *out is to be closed. */
int classes_open(struct bpf_object *object, const struct trie *trie, double max_overhead,
		 struct classes **out);
void classes_close(struct classes *classes);

/* From now on nothing is probed any more: the links go to those that are given up. */
void classes_give_up(struct classes *classes, struct probes_leaving *leaving);

/* Attaches to a target's libjvm, once. Failures are logged; the recording goes on without. */
void classes_attach(struct classes *classes, const struct process *p, struct image *image,
		    const struct mapping *mapping);

/* Where libjvm is in memory: the probes may be attached before it is. Once. */
void classes_place(struct classes *classes, const struct process *p, struct image *image,
		   const struct mapping *mapping);
bool classes_placed(const struct classes *classes, const struct process *p);

/* Whether attaching was tried. */
bool classes_attached(const struct classes *classes, const struct process *p);

/* Lets the kernel know how the target's JVM looks, as soon and as far as it can be read. */
void classes_look(struct classes *classes, const struct process *p);

/* The same, and handles what came before. About ten times a second, and at the end. */
void classes_tick(struct classes *classes, struct decoder *d, struct process *p,
		  struct recording *rec);

/* The target runs another program: what is known is of the one before. It is counted on. */
void classes_forget(struct classes *classes, const struct process *p);

/* The target's place is given to another, whose counts begin at 0. */
void classes_leave(struct classes *classes, const struct process *p);

/* What the kernel counted so far. */
void classes_finish(struct classes *classes, const struct decoder *d, const struct process *p,
		    struct recording *rec);

/* A record of the ring. */
void classes_decode(struct decoder *d, struct recording *rec, const void *data, size_t size);

#endif
