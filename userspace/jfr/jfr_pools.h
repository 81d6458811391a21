/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_POOLS_H
#define JVMSCOPE_JFR_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "jfr/jfr_bytes.h"
#include "jfr/jfr_events.h"
#include "model/recording.h"

/*
 * The constants of a file: what events refer to by id.
 *
 * Each chunk has those its events use, once, and can be read alone. One value has one id in the
 * whole file, because the JDK keeps the constants of the first chunk for the later ones; so all
 * calls must be with the same recording. Ids stay below 2^31, since async-profiler's converter cuts
 * them.
 */
struct jfr_pools;

struct jfr_pools *jfr_pools_new(void); /* NULL when memory is out */
void jfr_pools_free(struct jfr_pools *pools);

/* The id of a stack, whose frames become constants with it; 0 for one without frames. */
uint32_t jfr_pools_stack(struct jfr_pools *pools, const struct recording *rec, uint32_t id);

/*
 * The same without what is innermost and not Java, where anything is, and without what fills in the
 * stack of an exception: of events that the JDK has with stacks of Java frames alone, from the
 * constructor of an exception on, and that its tools sort by the innermost frame. What is left out
 * is a constant of ours with the same id.
 */
uint32_t jfr_pools_java_stack(struct jfr_pools *pools, const struct recording *rec, uint32_t id);

/* The id of a thread as it is called now; another name is another id. 0 for none. */
uint32_t jfr_pools_thread(struct jfr_pools *pools, const struct recording *rec, uint32_t id);

/* The id of a method of the recording. */
uint32_t jfr_pools_method(struct jfr_pools *pools, const struct recording *rec, uint32_t id);

/* The id of a class by its name with dots, a string of the recording; 0 for none. */
uint32_t jfr_pools_class(struct jfr_pools *pools, const struct recording *rec, uint32_t name);

/* The same of any type: "byte[]", "com.example.Foo[]". */
uint32_t jfr_pools_type(struct jfr_pools *pools, const struct recording *rec, uint32_t name);

/* The id of a class loader (model/classes.h); 0, which is the bootstrap loader, for none. */
uint32_t jfr_pools_loader(struct jfr_pools *pools, const struct recording *rec, uint32_t id);

/* The id of a tag of Native Memory Tracking, a string of the recording; 0 for none. */
uint32_t jfr_pools_nmt_type(struct jfr_pools *pools, const char *name);

/* The id of a name that comes again and again in our events; 0 for "". */
uint32_t jfr_pools_name(struct jfr_pools *pools, const char *name);

/*
 * The id of what the JVM has a number and a text for: JFR_GC_NAME, JFR_GC_CAUSE,
 * JFR_VM_OPERATION_TYPE, JFR_COMPILER_TYPE, JFR_DEOPTIMIZATION_..., JFR_NARROW_OOP_MODE,
 * JFR_FLAG_VALUE_ORIGIN; 0 for "".
 */
uint32_t jfr_pools_word(struct jfr_pools *pools, enum jfr_type_id type, const char *text);

/* Whether something is from after a collection. */
uint32_t jfr_pools_gc_when(struct jfr_pools *pools, bool after);

/*
 * Appends the checkpoint event with all constants that were asked for since the last one and were
 * not in the chunk then. to_last is the distance to the chunk's last one, 0 when this is the first.
 * Returns 0 or -ENOMEM.
 */
int jfr_pools_write(struct jfr_pools *pools, struct jfr_bytes *bytes, uint64_t ticks,
		    int64_t to_last);

/* Begins a chunk that has none yet. Those that were asked for must have been written. */
void jfr_pools_next_chunk(struct jfr_pools *pools);

#endif
