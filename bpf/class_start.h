/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_CLASS_START_H
#define JVS_CLASS_START_H

/* How far a JVM is, and its agents, for class.bpf.c; nobody else includes this. */
#include "class_record.h"

/* agent: as the JVM has it, where the phase is of one. */
static __always_inline void send_phase(__u32 index, __u32 phase, __u64 agent)
{
	struct jvs_class_scratch *scratch = take_scratch();

	if (!scratch) {
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
		return;
	}
	fill_event(scratch, JVS_EVENT_CLASS_PHASE, index, agent, NULL);
	scratch->event.flags = phase;
	if (!send_event(scratch))
		count_class(index, JVS_CLASS_COUNT_EVENT_LOST);
	give_scratch(scratch);
}

static __always_inline void tell_first_hook(__u32 index)
{
	__u32 *told = bpf_map_lookup_elem(&jvs_class_hooked, &index);

	if (told && !*told && !__sync_val_compare_and_swap(told, 0, 1))
		send_phase(index, JVS_CLASS_PHASE_HOOK, 0);
}

/* JvmtiExport::post_vm_initialized(): agents run in it */
JVS_FN int jvs_on_vm_initialized(void)
{
	__u32 index;
	struct jvs_class_thread *thread = current_class_thread(&index);

	if (!thread)
		return 0;
	thread->premain = 1;
	send_phase(index, JVS_CLASS_PHASE_INITIALIZED, 0);
	return 0;
}

/* jni_CallVoidMethod(): the instrument library calls premain by it */
JVS_FN int jvs_on_premain(void)
{
	__u32 index;
	const struct jvs_class_thread *thread = known_class_thread(&index);

	if (thread && thread->premain)
		send_phase(index, JVS_CLASS_PHASE_AGENT, 0);
	return 0;
}

/* jni_CallStaticVoidMethod(): the launcher calls main by it */
JVS_FN int jvs_on_main(void)
{
	__u32 index;
	struct jvs_class_thread *thread = known_class_thread(&index);

	if (!thread || !thread->premain)
		return 0;
	thread->premain = 0;
	send_phase(index, JVS_CLASS_PHASE_MAIN, 0);
	return 0;
}

/*
 * os::find_agent_function(agent, ...) for a function of the agent that runs next; of JDK 17 and
 * before, Arguments::add_loaded_agent(agent) when that of an attached one has run.
 */
JVS_FN int jvs_on_agent(__u64 agent, __u32 phase)
{
	__u32 index;

	if (jvs_current_target(&index))
		send_phase(index, phase, agent);
	return 0;
}

#endif
