/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_CLASSES_H
#define JVMSCOPE_MODEL_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

/*
 * Classes of a recording: those that were loaded, redefined and unloaded, by whom, from where, and
 * what agents did to them.
 *
 * Ids are 1..count, 0 is none, as everywhere in the recording. Strings, stacks and threads are ids
 * of the recording.
 */

#define REC_MAX_CLASSES	      (1u << 18) /* rows; more are counted by site alone */
#define REC_MAX_LOADERS	      (1u << 17)
#define REC_MAX_CLASS_SITES   (1u << 16)
#define REC_MAX_CLASS_CHANGES (1u << 16)
#define REC_MAX_CLASS_METHODS (1u << 20) /* of all changes */
#define REC_MAX_CLASS_AGENTS  (1u << 16)

/* A loader lives at an address, and when it is gone another may: that has the next generation. */
struct rec_loader {
	uint32_t jvm;
	uint32_t generation;
	uint64_t address; /* of the ClassLoaderData */
	uint32_t type;	  /* class, with dots; 0: bootstrap, or not known */
	uint32_t name;	  /* as logs have it: "'app'", "'D4' @33c7353a"; 0 not known */
	uint64_t loaded;  /* classes, while we looked */
	uint64_t unloaded;
	int64_t end_time_ns; /* 0: it lives */
};

enum rec_class_flag {
	REC_CLASS_PARSED = 1,	   /* bytes and times are known */
	REC_CLASS_HOOKED = 2,	   /* agents were asked */
	REC_CLASS_TRANSFORMED = 4, /* and one returned other bytes */
	REC_CLASS_ARCHIVED = 8,	   /* from the CDS archive */
	REC_CLASS_NAME_CUT = 16,   /* the name was longer and could not be read in full */
	REC_CLASS_HIDDEN = 32,
	REC_CLASS_PREMAIN = 64,	   /* loaded by a thread that runs agents before main */
	REC_CLASS_REDEFINED = 128, /* not a load: a class that was there got other bytes */
};

struct rec_class {
	uint32_t jvm;
	uint32_t name; /* "com.example.Foo$$Lambda/0x7f01" */
	uint32_t site;
	uint32_t loader;
	uint32_t source; /* "file:/app.jar", "jrt:/java.base"; 0 unknown */
	uint32_t stack;
	uint32_t thread;
	uint32_t flags; /* enum rec_class_flag */
	uint32_t bytes; /* before an agent changed them; 0 unknown */
	uint32_t bytes_after;
	uint32_t rule;	      /* class-name rule, which model/filter.h finds; 0 none */
	uint32_t change;      /* what the agents did; 0 unknown */
	int64_t time_ns;      /* when it was there for all */
	int64_t end_time_ns;  /* unloaded; 0: not seen */
	uint64_t duration_ns; /* from the first byte parsed to time_ns; 0 unknown */
	uint64_t read_ns;     /* before, since the boot loader was asked: see rec_class_read_ns() */
	uint64_t parse_ns; /* with superclasses that were loaded meanwhile, which are nested_ns */
	uint64_t nested_ns;
	uint64_t transform_ns; /* all agents together */
	uint64_t verify_ns;    /* 0: not, or in the archive */
	uint64_t rewrite_ns;   /* the same */
	uint64_t link_ns;      /* with both; 0: not seen */
	int64_t link_time_ns;  /* when it was linked */
	uint64_t initialize_ns;
	uint64_t initialize_self_ns; /* without what other classes took meanwhile */
	int64_t initialize_time_ns;  /* when it was initialized */
};

/* Classes of one kind: what keeps defining them. */
struct rec_class_site {
	uint32_t jvm;
	uint32_t pattern;     /* name with '#' for each number: "gen.p#.C#" */
	uint32_t loader_type; /* string id; 0 bootstrap or not known */
	uint32_t stack;
	uint64_t loaded;
	uint64_t unloaded;
	uint64_t bytes;
};

/* A rule by which classes were counted and not listed. */
struct rec_class_rule {
	uint32_t jvm;
	uint32_t text;
	uint32_t number;
	uint64_t loaded;
	uint64_t unloaded;
	uint64_t bytes;
	uint64_t parse_ns;
	uint64_t transform_ns;
	uint64_t link_ns;
	uint64_t initialize_ns;
};

/* Of one class file. */
struct rec_class_header {
	uint32_t bytes;
	uint16_t major;
	uint16_t constants; /* entries of the constant pool, as counted in the file */
	uint16_t methods;
	uint16_t methodrefs; /* also those of interfaces */
	bool frames;	     /* a method has a StackMapTable */
};

/* Of a method, before and after. */
struct rec_class_code {
	uint32_t code; /* bytes; 0: no code, or no such method */
	uint16_t max_stack;
	uint16_t max_locals;
	uint16_t frames; /* entries of its StackMapTable */
};

struct rec_class_method {
	uint32_t name;
	uint32_t signature;
	struct rec_class_code before, after;
	uint32_t calls_added;	 /* invocations of methods the class did not refer to before */
	uint32_t calls_at_entry; /* of which INVOKESTATIC before all else */
	uint32_t calls_at_exit;	 /* of which INVOKESTATIC right before a return or ATHROW */
	bool frames_changed;	 /* the entries of the StackMapTable are not those of before */
};

/* What agents did to a class. */
struct rec_class_change {
	struct rec_class_header before, after;
	uint32_t methodrefs_added;
	uint32_t first_method; /* of the changed ones, in the table of all */
	uint32_t method_count;
};

/* An agent, in the order the JVM got them. */
struct rec_class_agent {
	uint32_t jvm;
	bool java;		/* else native */
	bool dynamic;		/* attached while the JVM ran */
	uint32_t name;		/* its jar, or its library as it was asked for; 0 not known */
	uint32_t options;	/* 0: none */
	uint32_t path;		/* of a native one; 0 not known */
	uint32_t argument;	/* "-javaagent:apm.jar=app/"; 0: not known, or it is dynamic */
	int64_t time_ns;	/* when it began to initialize; 0 not seen */
	uint64_t premain_ns;	/* 0: not measured, or it has none */
	uint64_t initialize_ns; /* Agent_OnLoad, premain or Agent_OnAttach, by the JVM's clock */
};

/* How a JVM started, if that was seen. Times since the epoch; 0 not seen. */
struct rec_class_start {
	int64_t initialized_ns; /* the VM is; agents are next */
	int64_t main_ns;
	int64_t first_hook_ns; /* the class file load hook was called */
};

/* A class that was initialized before main, while agents ran. */
struct rec_class_early {
	uint32_t jvm;
	uint32_t name;
	uint32_t stack;
	int64_t time_ns;
	uint64_t initialize_ns;
};

/*
 * All adds return the id, or 0 when there is no more room, which the quality "info" counts as
 * ..._over_limit, or memory, which rec_error() knows of.
 */
uint32_t rec_loader(struct recording *rec, const struct rec_loader *loader);
struct rec_loader *rec_loader_get(const struct recording *rec, uint32_t id); /* NULL for 0 */
uint32_t rec_loader_count(const struct recording *rec);

/* Finds or adds it by its first four members. */
uint32_t rec_class_site(struct recording *rec, const struct rec_class_site *site);
struct rec_class_site *rec_class_site_get(const struct recording *rec, uint32_t id);
uint32_t rec_class_site_count(const struct recording *rec);

uint32_t rec_class(struct recording *rec, const struct rec_class *class);
struct rec_class *rec_class_get(const struct recording *rec, uint32_t id);
uint32_t rec_class_count(const struct recording *rec);
/*
 * What the boot loader took to find and to read a class, where it is of that loader; else 0: it is
 * asked for classes that others find later, too.
 */
uint64_t rec_class_read_ns(const struct recording *rec, const struct rec_class *class);
/* Classes for which rec_class() had no room. */
uint64_t rec_classes_not_listed(const struct recording *rec);

void rec_class_rule_set(struct recording *rec, const struct rec_class_rule *rule);
const struct rec_class_rule *rec_class_rules(const struct recording *rec, size_t *count);

void rec_class_count_set(struct recording *rec, uint32_t jvm, const char *name, uint64_t count);
const struct rec_count *rec_class_counts(const struct recording *rec, size_t *count);
/* The count of that name, of all JVMs. */
uint64_t rec_class_sum(const struct recording *rec, const char *name);

/* With all its methods, method_count of them, or not at all; first_method is set here. */
uint32_t rec_class_change(struct recording *rec, const struct rec_class_change *change,
			  const struct rec_class_method *methods);
const struct rec_class_change *rec_class_change_get(const struct recording *rec, uint32_t id);
const struct rec_class_method *rec_class_methods(const struct recording *rec);

uint32_t rec_class_agent(struct recording *rec, const struct rec_class_agent *agent);
struct rec_class_agent *rec_class_agent_get(const struct recording *rec, uint32_t id);
uint32_t rec_class_agent_count(const struct recording *rec);
/* Of a JVM; NULL when memory is out. */
struct rec_class_start *rec_class_start(struct recording *rec, uint32_t jvm);
const struct rec_class_start *rec_class_start_get(const struct recording *rec, uint32_t jvm);
void rec_class_early(struct recording *rec, const struct rec_class_early *early);
const struct rec_class_early *rec_class_earlies(const struct recording *rec, size_t *count);

/* Whether anything of all this was added. */
bool rec_has_classes(const struct recording *rec);

/* For rec_free() and rec_edit_stacks() alone. */
struct rec_classes;
void rec_classes_free(struct rec_classes *classes);
/* Puts what change returns in place of each stack. */
void rec_classes_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
			    void *ctx);

#endif
