/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_KLASSES_H
#define JVMSCOPE_KLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"
#include "bpf/jvs_class.h"

struct process;
struct recording;

/*
 * Names of classes by their Klass*, as records have it: of locks, of objects that are allocated.
 * They are read from the target when they are first seen, so within a tenth of a second: a class
 * that was unloaded meanwhile has no name. A zeroed struct is a valid empty one.
 */
struct klass_name {
	uint64_t symbol; /* of the name: another class may get the address of an unloaded one */
	uint32_t string; /* of the recording */
};

struct klasses {
	struct jvs_class_layout layout;
	bool known;		  /* the layout is */
	struct map64 by_address;  /* to index into names */
	struct klass_name *names; /* owned */
	uint32_t count;
	uint32_t capacity;
};
#define KLASSES_MAX (1u << 20) /* then all are forgotten, and read again */

/*
 * The string id of "java.lang.String", "byte[]", "com.example.Foo$$Lambda" (normalised); 0: it
 * cannot be read.
 */
uint32_t klasses_name(struct klasses *klasses, const struct process *p, struct recording *rec,
		      uint64_t klass);

/* The target runs another program, or there is another recording. */
void klasses_free(struct klasses *klasses);

#endif
