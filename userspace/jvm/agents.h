/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_AGENTS_H
#define JVMSCOPE_AGENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;
struct target;

/*
 * The agents of a JVM, as it lists them itself: of -javaagent, -agentlib and -agentpath, and those
 * that were attached while it ran. No JDK exports the list; its place is a symbol of libjvm.
 */

#define AGENTS_MAX     64
#define AGENT_TEXT_MAX 512

/* JDK 8 to 17 have a list of AgentLibrary, 21 and later one of JvmtiAgent, which knows more. */
struct agents_place {
	uint64_t list;	    /* address of the list's head; 0: not known */
	uint64_t time_zero; /* of the variable from which the JVM counts its time; 0: not known */
	bool knows_times;   /* and which were attached later */
	bool newest_first;
};

struct agent {
	uint64_t address; /* in the target: another agent has another */
	bool java;	  /* run by the JDK's instrument library */
	bool absolute;	  /* name is a path: -agentpath */
	bool knows_dynamic;
	bool dynamic;		      /* attached while the JVM ran, if that is known */
	uint64_t begin_ns;	      /* CLOCK_MONOTONIC, when it began to initialize; 0 unknown */
	uint64_t took_ns;	      /* 0 unknown, or not done yet */
	char name[AGENT_TEXT_MAX];    /* library, or the jar of an agent in Java */
	char options[AGENT_TEXT_MAX]; /* "" none */
	char path[AGENT_TEXT_MAX];    /* file of a native one; "" unknown */
	char argument[2 * AGENT_TEXT_MAX + 16]; /* as on a command line: "-agentpath:/a.so=x" */
};

/* Finds the place in libjvm, whose ELF addresses are bias below the target's. 0 or -ENOENT. */
int agents_find(struct image *libjvm, uint64_t bias, struct agents_place *out);

/* What changes when an agent is added or is gone; cheap. Returns 0 or a negative errno. */
int agents_mark(const struct target *t, const struct agents_place *place, uint64_t *mark);

/*
 * Reads the list in the order the JVM got it, at most AGENTS_MAX. Texts that are longer than their
 * place are cut, unreadable ones "". Returns how many, or a negative errno. Never logs.
 */
int agents_read(const struct target *t, const struct agents_place *place,
		struct agent out[AGENTS_MAX]);

#endif
