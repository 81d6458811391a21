/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_NATIVE_IMPL_H
#define JVMSCOPE_NATIVE_IMPL_H

#include "live/native.h"

struct image;
struct mapping;

/* Inside of native*.c. */

/* The names of the VM's memory tags, from the JVM itself: their numbers differ from JDK to JDK. */
void native_read_tags(struct native_target *t, const struct process *p, struct image *libjvm,
		      const struct mapping *mapping);

/* The name of a tag as a string of the recording. */
uint32_t native_tag(struct native_target *t, struct recording *rec, uint32_t tag);

/* A counter of a target, summed over all CPUs. */
void native_counts(const struct native *native, uint32_t target, struct jvs_native_counts *out);

#endif
