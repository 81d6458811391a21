/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "live/cost.h"
#include "live/live_impl.h"
#include "model/recording.h"

/* The part of live.h that counts: what was kept, what was lost and why, and what it cost. */

static const struct {
	const char *name;
	bool loss;
} counters[JVS_COUNT_NR] = {
#define X(counter, text, is_loss) [JVS_COUNT_##counter] = { (text), (is_loss) },
	JVS_COUNTER_LIST(X)
#undef X
};

static uint64_t counter(const struct live *live, uint32_t target, uint32_t which)
{
	uint32_t key = target * JVS_COUNT_NR + which;

	return cost_percpu_sum(live->counters_fd, key);
}

static void add_counters(struct live *live, struct recording *rec)
{
	struct rec_meta *meta = rec_meta(rec);
	struct decoder *d = &live->decoder;

	for (uint32_t c = 0; c < JVS_COUNT_NR; c++) {
		uint64_t sum = 0;

		for (uint32_t t = 0; t < live->process_count; t++)
			sum += counter(live, t, c);
		if (c == JVS_COUNT_SEEN)
			meta->seen = sum;
		else if (c == JVS_COUNT_WALK_NS)
			meta->bpf_ns = sum;
		else if (sum || counters[c].loss)
			rec_quality_set(rec, counters[c].loss ? REC_QUALITY_LOST : REC_QUALITY_INFO,
					counters[c].name, sum);
	}
	rec_quality_set(rec, REC_QUALITY_LOST, "stack_unknown", d->lost_stack);
	rec_quality_set(rec, REC_QUALITY_INFO, "unnamed_java_frames", d->resolver.unnamed_java);
	rec_quality_set(rec, REC_QUALITY_INFO, "unnamed_native_frames", d->resolver.unnamed_native);
	if (d->lost_bad)
		rec_quality_set(rec, REC_QUALITY_LOST, "bad_record", d->lost_bad);
	if (d->bad_records)
		rec_quality_set(rec, REC_QUALITY_INFO, "bad_records", d->bad_records);
}

static void add_stack_quality(struct live *live, struct recording *rec)
{
	static const struct {
		const char *name;
		enum rec_quality_group group;
	} statuses[JVS_STATUS_NR] = {
#define C		       REC_QUALITY_COMPLETE
#define T		       REC_QUALITY_TRUNCATED_BY
#define B		       REC_QUALITY_BROKEN_BY
#define X(status, text, class) [JVS_STATUS_##status] = { (text), (class) },
		JVS_STATUS_LIST(X)
#undef X
#undef C
#undef T
#undef B
	};

	for (uint32_t s = 0; s < JVS_STATUS_NR; s++)
		if (live->decoder.by_status[s])
			rec_quality_set(rec, statuses[s].group, statuses[s].name,
					live->decoder.by_status[s]);
}

/* Times are read every few seconds: of a thread that has ended its samples may know more. */
static uint64_t at_least_sampled(const struct rec_thread *thread)
{
	uint64_t sampled_ns = 0;

	for (int state = 0; state < REC_STATE_NR; state++)
		sampled_ns += thread->state_ns[state];
	return sampled_ns > thread->cpu_ns ? sampled_ns : thread->cpu_ns;
}

/* Threads that ended before they were looked at have no time but that of their samples. */
static void finish_unknown_threads(struct recording *rec)
{
	for (uint32_t id = 1; id <= rec_thread_count(rec); id++) {
		struct rec_thread *thread = rec_thread_get(rec, id);

		thread->cpu_ns = at_least_sampled(thread);
	}
}

void live_finish_thread(struct process *p, const struct known_thread *known, struct recording *rec)
{
	struct rec_thread *thread = rec_thread_get(rec, rec_thread(rec, p->rec_jvm, known->tid));

	if (!thread)
		return;
	thread->cpu_ns = known_thread_cpu_ns(known);
	if (p->state == PROCESS_ENDED || known->round < p->round)
		thread->cpu_ns = at_least_sampled(thread);
	/* Many a thread gets its name only after it has begun to run. */
	decode_name_thread(p, rec, thread);
}

void live_finish_process(struct process *p, struct recording *rec)
{
	for (size_t i = 0; i < p->known_count; i++)
		live_finish_thread(p, &p->known[i], rec);
}

void live_finish_probes(struct live *live, const struct process *p, struct recording *rec)
{
	if (live->classes)
		classes_finish(live->classes, &live->decoder, p, rec);
	if (live->native)
		native_finish(live->native, &live->decoder, p, rec);
	if (live->vm)
		vm_finish(live->vm, &live->decoder, p, rec);
	if (live->offcpu)
		offcpu_finish(live->offcpu, &live->decoder, p, rec);
}

static uint32_t string_of(struct recording *rec, const char *s)
{
	return rec_string(rec, s, strlen(s));
}

static void add_cost(struct live *live, struct recording *rec)
{
	struct rec_meta *meta = rec_meta(rec);

	meta->frequency_hz = live->options.frequency;
	meta->max_depth = live->options.max_depth;
	meta->clock = string_of(rec, clock_is_cycles(&live->clock) ? "cycles" : "cpu-clock");
	meta->cpus = (uint32_t)live->clock.count;
	meta->own_cpu_ns = cost_own_cpu_ns() - live->open_cpu_ns;
	meta->own_rss_bytes = cost_own_rss_bytes();
	meta->own_map_bytes = cost_map_bytes(live->object);
	meta->target_cpu_ns = live->gone_cpu_ns;
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target)
			meta->target_cpu_ns += process_cpu_ns(&live->processes[i]);
	if (meta->target_cpu_ns)
		meta->achieved_hz = (double)meta->seen * 1e9 / (double)meta->target_cpu_ns;
}

void live_finish(struct live *live, struct recording *rec)
{
	add_counters(live, rec);
	add_stack_quality(live, rec);
	finish_unknown_threads(rec);
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target && live->processes[i].state != PROCESS_ENDED)
			live_finish_process(&live->processes[i], rec);
	for (uint32_t i = 0; i < live->process_count; i++)
		live_finish_probes(live, &live->processes[i], rec);
	add_cost(live, rec);
}

void live_snapshot(struct live *live, struct recording *rec)
{
	/* Frames that are written are not named any more. */
	resolve_kernel_names(&live->decoder.resolver, rec);
	if (live->native)
		live->native->waits = true;
	if (live->vm)
		live->vm->goes_on = true;
	live_finish(live, rec);
	if (live->vm)
		live->vm->goes_on = false;
	if (live->native)
		live->native->waits = false;
}

/* ---- asking */

void live_status(struct live *live, struct live_status *out)
{
	struct live_status status = { .samples = live->decoder.samples,
				      .own_cpu_ns = cost_own_cpu_ns() - live->open_cpu_ns,
				      .clock = clock_is_cycles(&live->clock) ? "cycles"
									     : "cpu-clock" };

	for (uint32_t s = 0; s < JVS_STATUS_NR; s++) {
		enum rec_stack_state state = resolve_state_of(s);
		uint64_t count = live->decoder.by_status[s];

		status.complete += state == REC_STACK_COMPLETE ? count : 0;
		status.truncated += state == REC_STACK_TRUNCATED ? count : 0;
		status.broken += state == REC_STACK_BROKEN ? count : 0;
	}
	status.lost = live->decoder.lost_stack + live->decoder.lost_bad;
	for (uint32_t i = 0; i < live->process_count; i++) {
		const struct process *p = &live->processes[i];

		for (uint32_t c = 0; c < JVS_COUNT_NR; c++)
			if (counters[c].loss)
				status.lost += counter(live, i, c);
		status.targets += p->target && p->state != PROCESS_ENDED;
		status.java += p->jvm != NULL;
	}
	if (live->native)
		native_status(live->native, &status);
	if (live->vm)
		vm_status(live->vm, &status);
	*out = status;
}

bool live_all_java(const struct live *live)
{
	if (live->gone_native)
		return false;
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target && !live->processes[i].jvm)
			return false;
	return true;
}
