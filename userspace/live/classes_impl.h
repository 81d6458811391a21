/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CLASSES_IMPL_H
#define JVMSCOPE_CLASSES_IMPL_H

#include "live/classes.h"

/* Inside of classes*.c. */

/* Reads class and name of a loader that has none yet, when it lives and they can be read. */
void classes_describe_loader(struct classes *classes, const struct process *p,
			     struct recording *rec, struct rec_loader *loader);

/* Adds a class that was loaded. */
void classes_add(struct classes *classes, struct decoder *d, struct process *p,
		 struct recording *rec, const struct jvs_class_event *event);

/* Keeps a load that came before the JVM could be read. */
void classes_keep_early(struct class_target *t, const struct jvs_class_event *event);

/* Handles the loads that came before the JVM could be read. */
void classes_name_early(struct classes *classes, struct decoder *d, struct process *p,
			struct recording *rec);

/* One rule as the kernel counts it, and what of it was counted here. */
void classes_add_rule(struct classes *classes, const struct process *p, struct recording *rec,
		      const struct jvs_class_rule_key *key, const struct jvs_class_rule *value);

/* A part of a class file. */
void classes_take_bytes(struct class_target *t, const struct jvs_class_bytes *part, size_t size);

/* What agents did to the class whose files have this id; 0 when they did not come in full. */
uint32_t classes_compare(struct class_target *t, struct recording *rec, uint64_t id);

#endif
