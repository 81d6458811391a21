/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events.h"

#include <string.h>

#include "jfr/jfr_events_impl.h"

/* Ids of 128 and more would take two bytes in each event. */
_Static_assert(JFR_JDK_EVENT_END <= JFR_OWN_EVENT_FIRST, "room for the events of the JDK");
_Static_assert(JFR_OWN_EVENT_END <= JFR_TYPE_FIRST, "room for our events");
_Static_assert(JFR_TYPE_END <= JFR_ANNOTATION_FIRST, "room for types");

_Static_assert(JFR_RARE_END <= JFR_VM_EVENT_FIRST, "room for rare events");
_Static_assert(JFR_VM_EVENT_END <= JFR_DECLARED_FIRST, "room for those of the VM");

static const struct {
	const struct jfr_type *types;
	unsigned int first;
	unsigned int end;
} parts[] = {
	{ jfr_jdk_events, JFR_JDK_EVENT_FIRST, JFR_JDK_EVENT_END },
	{ jfr_vm_events, JFR_VM_EVENT_FIRST, JFR_VM_EVENT_END },
	{ jfr_own_events, JFR_OWN_EVENT_FIRST, JFR_OWN_EVENT_END },
	{ jfr_field_types, JFR_TYPE_FIRST, JFR_TYPE_END },
	{ jfr_rare_events, JFR_RARE_FIRST, JFR_RARE_END },
	{ jfr_declared_events, JFR_DECLARED_FIRST, JFR_DECLARED_END },
};
#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

const struct jfr_type *jfr_type(unsigned int id)
{
	for (size_t i = 0; i < PART_COUNT; i++)
		if (id >= parts[i].first && id < parts[i].end)
			return &parts[i].types[id - parts[i].first];
	return NULL;
}

int jfr_type_find(const char *name)
{
	for (size_t i = 0; i < PART_COUNT; i++)
		for (unsigned int id = parts[i].first; id < parts[i].end; id++)
			if (!strcmp(parts[i].types[id - parts[i].first].name, name))
				return (int)id;
	return -1;
}

const char *jfr_frame_type_name(enum jfr_frame_type type)
{
	static const char *const names[JFR_FRAME_NR] = {
		[JFR_FRAME_INTERPRETED] = "Interpreted",
		[JFR_FRAME_JIT] = "JIT compiled",
		[JFR_FRAME_INLINED] = "Inlined",
		[JFR_FRAME_NATIVE] = "Native",
		[JFR_FRAME_CPP] = "C++",
		[JFR_FRAME_KERNEL] = "Kernel",
		[JFR_FRAME_C1] = "C1 compiled",
	};

	return names[type];
}

const char *jfr_thread_state_name(enum jfr_thread_state state)
{
	static const char *const names[JFR_STATE_NR] = {
		[JFR_STATE_DEFAULT] = "STATE_DEFAULT",
		[JFR_STATE_RUNNABLE] = "STATE_RUNNABLE",
		[JFR_STATE_SLEEPING] = "STATE_SLEEPING",
	};

	return names[state];
}
