/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CLASSES_IMPL_H
#define JVMSCOPE_CLASSES_IMPL_H

#include "live/classes.h"

/* Inside of classes*.c. */

uint32_t classes_string(struct recording *rec, const char *text); /* 0 for "" */
/* The time of a record as the recording has it. */
int64_t classes_time(const struct decoder *d, uint64_t time_ns);

/* The row of a class loader, made when it is new. */
uint32_t classes_find_loader(struct class_target *t, const struct process *p, struct recording *rec,
			     uint64_t address, uint32_t generation);
void classes_take_loader(struct classes *c, const struct process *p, struct recording *rec,
			 const struct jvs_class_loader *record);
void classes_end_loader(struct decoder *d, const struct process *p, struct recording *rec,
			const struct jvs_class_loader *record);

/* Reads class and name of a loader that has none yet, when it lives and they can be read. */
void classes_describe_loader(struct classes *classes, const struct process *p,
			     struct recording *rec, uint32_t id);

/* A record of how far a JVM is, or of one of its agents. */
void classes_take_phase(struct decoder *d, const struct process *p, struct recording *rec,
			const struct jvs_class_event *event);

/* Agents that are new, or of which more is known. */
void classes_look_at_agents(struct classes *classes, const struct decoder *d,
			    const struct process *p, struct recording *rec);

/* The last look, also where nothing but the command line names them. */
void classes_finish_agents(struct classes *classes, const struct process *p, struct recording *rec);

/* The budget of a target's probes, from when they are attached. */
void classes_begin_budget(struct classes *classes, const struct process *p);
void classes_keep_budget(struct classes *classes, const struct decoder *d, struct process *p,
			 struct recording *rec);
void classes_tell_budget(const struct classes *classes, const struct decoder *d,
			 const struct process *p, struct recording *rec);

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

/* A part of a class file. What agents did is found out when both files are there. */
void classes_take_bytes(struct class_target *t, struct recording *rec,
			const struct jvs_class_bytes *part, size_t size);

/* What agents did to the class whose files have this id; 0 when they did not come in full. */
uint32_t classes_take_change(struct class_target *t, uint64_t id);

#endif
