/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CLASS_H
#define JVS_CLASS_H

#include "jvs_abi.h"

/*
 * Class loads, as bpf/class.bpf.c sees them and userspace/live/classes.c reads them.
 *
 * All sites are entries of functions. There is no return probe: one would put a trampoline into
 * the stacks of everything that runs below, and class initializers may run for hours.
 */

#define JVS_CLASS_NAME_MAX   512 /* bytes of a name in a record; longer ones are read from memory */
#define JVS_CLASS_SOURCE_MAX 128 /* bytes of a source's text */
#define JVS_CLASS_RULE_MAX   256 /* bytes of a rule's text */
#define JVS_CLASS_BYTES_PART 4096			  /* bytes of a class file in one record */
#define JVS_CLASS_FILE_SENT  (32u * JVS_CLASS_BYTES_PART) /* bytes; a longer one is not sent */
#define JVS_CLASS_RULES	     4096  /* of all targets, with classes that they ignore */
#define JVS_CLASS_LOADERS    65536 /* addresses of loaders in all targets */
#define JVS_CLASS_SCRATCHES  4	   /* per CPU */

/* What BPF must know of a JVM to read a class; made by jvm/loader.c. Offsets in bytes. */
struct jvs_class_layout {
	__u32 ready; /* 0: nothing below is valid: classes are sent without names */
	__u32 klass_name;
	__u32 klass_cld;
	__u32 klass_layout_helper; /* int, below 0 for arrays */
	__u32 symbol_body;
	__u32 symbol_length; /* an offset; the length has 16 bits */
	__u32 loader_klass;  /* of a ClassLoaderData; JVS_NO_FIELD: not known (yet) */
	__u32 loader_name_and_id;
	__u64 archive_low; /* classes that lie here are from the CDS archive */
	__u64 archive_high;
};
_Static_assert(sizeof(struct jvs_class_layout) == 48, "no holes");

/* Probed functions: the cookies of the links. live/classes.c has their names. */
enum jvs_class_site {
	JVS_CLASS_SITE_PARSE = 1,
	JVS_CLASS_SITE_HOOK,
	JVS_CLASS_SITE_PARSER,
	JVS_CLASS_SITE_PARSED,
	JVS_CLASS_SITE_NOTIFIED,
	JVS_CLASS_SITE_LOAD,
	JVS_CLASS_SITE_UNLOAD,
	JVS_CLASS_SITE_REDEFINED,
	JVS_CLASS_SITE_REDEFINED_11, /* JDK 11: other arguments */
	JVS_CLASS_SITE_LOADER,
	JVS_CLASS_SITE_LOADER_END,
	JVS_CLASS_SITE_INIT,
	JVS_CLASS_SITE_INITIALIZED,
	JVS_CLASS_SITE_VM_INITIALIZED,
	JVS_CLASS_SITE_PREMAIN,
	JVS_CLASS_SITE_MAIN,
	JVS_CLASS_SITE_AGENT,
	JVS_CLASS_SITE_AGENT_LOADED,
	JVS_CLASS_SITE_AGENTS_LOADED,
	JVS_CLASS_SITE_READ, /* from here on phases */
	JVS_CLASS_SITE_VERIFY,
	JVS_CLASS_SITE_REWRITE,
	JVS_CLASS_SITE_METHODS,
	JVS_CLASS_SITE_UNLOCKED,
};

/* What is recorded, by target, as the budget allows. */
enum jvs_class_mode {
	JVS_CLASS_MODE_EXACT,
	JVS_CLASS_MODE_NO_STACKS,
	JVS_CLASS_MODE_COUNTED,
};

/* Counters, per target: index target * JVS_CLASS_COUNT_NR + counter. X(NAME, "name in outputs"). */
#define JVS_CLASS_COUNTER_LIST(X)                                                                 \
	X(LOADED, "loaded")	    /* real loads: each is sent, ignored, only counted or lost */ \
	X(COUNTED, "counted")	    /* a load while the budget allows no records */               \
	X(PHASE_HITS, "phase_hits") /* of which on reading, linking, initializing */              \
	X(HITS, "probe_hits")                                                                     \
	X(RUN_NS, "probe_run_ns") /* beside the traps */                                          \
	X(SENT, "listed")                                                                         \
	X(IGNORED, "ignored")	  /* counted by rule */                                           \
	X(RING_FULL, "ring_full") /* a load that did not fit the ring */                          \
	X(BUSY, "slot_busy")	  /* a load that found no scratch memory */                       \
	X(BAD_READ, "unreadable") /* a load whose name could not be read: sent without */         \
	X(UNLOADED, "unloaded")                                                                   \
	X(UNLOAD_LOST, "unloads_lost")                                                            \
	X(PARSED, "parsed")	/* class files that were parsed, for whatever purpose */          \
	X(NOTIFIED, "notified") /* what the JVM itself counts as loads: attempts */               \
	X(REDEFINED, "redefined")                                                                 \
	X(HOOKED, "hooked")	      /* calls of the class file load hook */                     \
	X(TRANSFORMED, "transformed") /* of which came back with other bytes */                   \
	X(INITIALIZED, "initialized")                                                             \
	X(STACK_LOST, "stacks_lost") /* loads that were sent without their stack */               \
	X(EVENT_LOST, "events_lost") /* of what a class went through; what parsing took */        \
	X(BYTES_LOST, "bytes_lost")  /* class files, changed by an agent, that were not copied */

enum jvs_class_counter {
#define X(name, text) JVS_CLASS_COUNT_##name,
	JVS_CLASS_COUNTER_LIST(X)
#undef X
		JVS_CLASS_COUNT_NR,
};

/* What is known of a parsed class file. */
enum jvs_class_flag {
	JVS_CLASS_PARSED = 1,	   /* bytes and times are valid */
	JVS_CLASS_HOOKED = 2,	   /* an agent saw its bytes */
	JVS_CLASS_TRANSFORMED = 4, /* and returned others */
	JVS_CLASS_ARCHIVED = 8,	   /* from the CDS archive */
	JVS_CLASS_EARLY = 16,	   /* before the layout was known: no name */
	JVS_CLASS_PREMAIN = 32,	   /* by a thread that runs agents before main */
};

/* JVS_EVENT_CLASS_PHASE: how far a JVM is, or one of its agents. In flags. */
enum jvs_class_phase {
	JVS_CLASS_PHASE_INITIALIZED = 1, /* the VM: agents are next */
	JVS_CLASS_PHASE_AGENT = 2,	 /* one agent's premain begins */
	JVS_CLASS_PHASE_MAIN = 3,	 /* the program's main begins */
	JVS_CLASS_PHASE_HOOK = 4,	/* the class file load hook was called for the first time */
	JVS_CLASS_PHASE_ALL_LOADED = 5, /* Agent_OnLoad of all agents has run */
	/* of the agent at the address in klass: */
	JVS_CLASS_PHASE_LOADING = 6, /* one of its functions runs next */
	JVS_CLASS_PHASE_LOADED = 7,  /* it was attached; JDK 17 and before */
};

struct jvs_class_facts {
	__u64 start_ns;	    /* CLOCK_MONOTONIC, when parsing began; 0: not parsed */
	__u64 read_ns;	    /* before: since the boot loader was asked, which may not have it */
	__u64 parse_ns;	    /* until the parser was done, without the agents' time */
	__u64 nested_ns;    /* of which other classes were parsed or initialized */
	__u64 transform_ns; /* in the class file load hook: all agents together */
	__u64 bytes_id;	    /* names the bytes that were sent; 0: none */
	__u32 bytes;	    /* before an agent changed them */
	__u32 bytes_after;  /* as parsed */
	__u32 flags;	    /* enum jvs_class_flag */
	__u32 source_len;
	char source[JVS_CLASS_SOURCE_MAX];
};
_Static_assert(sizeof(struct jvs_class_facts) == 48 + 16 + JVS_CLASS_SOURCE_MAX, "no holes");

/* JVS_EVENT_CLASS_LOAD, _UNLOAD, _REDEFINED, _LINK, _INIT, _PHASE. The record ends behind
 * name_bytes of name. */
struct jvs_class_event {
	struct jvs_event event;
	__u64 klass;
	__u64 loader;	   /* ClassLoaderData */
	__u64 symbol;	   /* of the name */
	__u64 stack;	   /* hash; 0: none */
	__u64 duration_ns; /* of an initializer, or of all linking */
	__u64 self_ns;	   /* without the loads and initializers it caused */
	__u64 verify_ns;   /* of which verifying, with the loads it caused; 0: done at build time */
	__u64 rewrite_ns;  /* and rewriting the bytecode */
	__u32 generation;  /* of the loader: addresses are used again */
	__u32 flags;	   /* enum jvs_class_flag */
	__u32 name_len;	   /* of the whole name */
	__u32 name_bytes;  /* in the record */
	struct jvs_class_facts facts;
	char name[JVS_CLASS_NAME_MAX + 8]; /* modified UTF-8, '/' between packages */
};
#define JVS_CLASS_EVENT_HEADER (sizeof(struct jvs_class_event) - (JVS_CLASS_NAME_MAX + 8))

/* JVS_EVENT_CLASS_LOADER, before the first class of a loader; _LOADER_END when it is unloaded. */
struct jvs_class_loader {
	struct jvs_event event;
	__u64 loader;
	__u32 generation;
	__u32 type_bytes;
	__u32 name_bytes;
	__u32 pad;
	char type[JVS_CLASS_RULE_MAX + 8]; /* class of the loader; none: bootstrap */
	char name[JVS_CLASS_RULE_MAX + 8]; /* "'app'", "'D4' @33c7353a" */
};

#define JVS_CLASS_LOADER_HEADER (sizeof(struct jvs_event) + 24)
_Static_assert(sizeof(struct jvs_class_loader) ==
		       JVS_CLASS_LOADER_HEADER + 2ull * (JVS_CLASS_RULE_MAX + 8),
	       "no holes");

/* JVS_EVENT_CLASS_BYTES: a part of a class file before (0) or after (1) the agents. */
struct jvs_class_bytes {
	struct jvs_event event;
	__u64 id;
	__u32 after;
	__u32 total;
	__u32 first;
	__u32 count;
	__u8 bytes[JVS_CLASS_BYTES_PART];
};
#define JVS_CLASS_BYTES_HEADER (sizeof(struct jvs_class_bytes) - JVS_CLASS_BYTES_PART)

/* Classes that a rule ignores. Key: the rule, by the hash of its text. */
struct jvs_class_rule_key {
	__u64 hash;
	__u32 target;
	__u32 number; /* with TRIE_GLOB */
};

struct jvs_class_loader_key {
	__u64 loader;
	__u32 target;
	__u32 pad;
};

struct jvs_class_rule {
	__u64 loaded;
	__u64 unloaded;
	__u64 bytes;
	__u64 parse_ns;
	__u64 transform_ns;
	__u64 link_ns;
	__u64 initialize_ns;
	__u32 text_len; /* of the rule; more than JVS_CLASS_RULE_MAX: cut */
	__u32 pad;
	char text[JVS_CLASS_RULE_MAX]; /* as in names, without the asterisk */
};

#endif
