/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_EVENTS_IMPL_H
#define JVMSCOPE_JFR_EVENTS_IMPL_H

#include "jfr/jfr_events.h"

/* The parts of the table, for jfr_events*.c only. */

#define JFR_JDK_EVENT_NR (JFR_JDK_EVENT_END - JFR_JDK_EVENT_FIRST)
#define JFR_VM_EVENT_NR	 (JFR_VM_EVENT_END - JFR_VM_EVENT_FIRST)
#define JFR_OWN_EVENT_NR (JFR_OWN_EVENT_END - JFR_OWN_EVENT_FIRST)
#define JFR_TYPE_NR	 (JFR_TYPE_END - JFR_TYPE_FIRST)
#define JFR_RARE_NR	 (JFR_RARE_END - JFR_RARE_FIRST)
#define JFR_DECLARED_NR	 (JFR_DECLARED_END - JFR_DECLARED_FIRST)

extern const struct jfr_type jfr_jdk_events[JFR_JDK_EVENT_NR];
extern const struct jfr_type jfr_vm_events[JFR_VM_EVENT_NR];
extern const struct jfr_type jfr_own_events[JFR_OWN_EVENT_NR];
extern const struct jfr_type jfr_field_types[JFR_TYPE_NR];
extern const struct jfr_type jfr_rare_events[JFR_RARE_NR];
extern const struct jfr_type jfr_declared_events[JFR_DECLARED_NR];

/* An array of fields and its length. */
#define FIELDS(array) (array), sizeof(array) / sizeof((array)[0])

#endif
