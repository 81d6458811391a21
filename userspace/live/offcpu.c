/* SPDX-License-Identifier: Apache-2.0 */
#include "live/offcpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "live/decode.h"
#include "live/process.h"
#include "model/gc.h"
#include "model/recording.h"
#include "target/target.h"

#define LEAST_NS    20000 /* what is shorter is only counted */
#define EVERY_MOST  1024
#define LIMIT_SHARE 0.9 /* of the budget, at which fewer are looked at */

static const char *const programs[] = { "jvs_on_offcpu", "jvs_on_waking" };
static const char *const maps[] = { "jvs_offcpu_controls", "jvs_offcpu_counts",
				    "jvs_offcpu_threads" };

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- loading */

int offcpu_choose(struct bpf_object *object, bool wanted)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(programs) && !err; i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, programs[i]);

		err = program ? bpf_program__set_autoload(program, wanted) : -ENOENT;
	}
	for (size_t i = 0; i < ARRAY_SIZE(maps) && !err; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, maps[i]);

		err = map ? bpf_map__set_autocreate(map, wanted) : -ENOENT;
	}
	return err;
}

static int attach(struct offcpu *offcpu, struct bpf_object *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, programs[i]);

		offcpu->links[i] = bpf_program__attach(program);
		if (!offcpu->links[i])
			return -errno;
	}
	return 0;
}

int offcpu_open(struct bpf_object *object, double max_overhead, struct offcpu **out)
{
	struct offcpu *offcpu = calloc(1, sizeof(*offcpu));
	int err;

	if (!offcpu)
		return -ENOMEM;
	offcpu->max_overhead = max_overhead;
	offcpu->controls_fd = bpf_object__find_map_fd_by_name(object, "jvs_offcpu_controls");
	offcpu->counts_fd = bpf_object__find_map_fd_by_name(object, "jvs_offcpu_counts");
	err = attach(offcpu, object);
	if (err) {
		log_error("off-CPU time: cannot be recorded: %s", strerror(-err));
		offcpu_close(offcpu);
		return err;
	}
	*out = offcpu;
	return 0;
}

void offcpu_stop(struct offcpu *offcpu)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		bpf_link__destroy(offcpu->links[i]);
		offcpu->links[i] = NULL;
	}
}

void offcpu_close(struct offcpu *offcpu)
{
	if (!offcpu)
		return;
	offcpu_stop(offcpu);
	free(offcpu);
}

/* ---- the budget */

static void read_counts(const struct offcpu *offcpu, uint32_t target, struct jvs_offcpu_counts *out)
{
	int cpus = libbpf_num_possible_cpus();
	struct jvs_offcpu_counts *each = cpus > 0 ? calloc((size_t)cpus, sizeof(*each)) : NULL;

	*out = (struct jvs_offcpu_counts){ 0 };
	if (each && !bpf_map_lookup_elem(offcpu->counts_fd, &target, each))
		for (int cpu = 0; cpu < cpus; cpu++)
			for (int i = 0; i < JVS_OFFCPU_COUNT_NR; i++)
				out->values[i] += each[cpu].values[i];
	free(each);
}

static void set_control(const struct offcpu *offcpu, const struct process *p)
{
	bpf_map_update_elem(offcpu->controls_fd, &p->index, &offcpu->targets[p->index].control,
			    BPF_ANY);
}

static struct governor_input input_of(const struct jvs_offcpu_counts *counts)
{
	return (struct governor_input){ .cost_ns = counts->values[JVS_OFFCPU_COUNT_RUN_NS],
					.hits = counts->values[JVS_OFFCPU_COUNT_SWITCHES] };
}

static void begin(struct offcpu *offcpu, const struct process *p)
{
	struct offcpu_target *t = &offcpu->targets[p->index];
	struct jvs_offcpu_counts counts;
	struct governor_input input;

	read_counts(offcpu, p->index, &counts);
	input = input_of(&counts);
	budget_begin(&t->budget, offcpu->max_overhead, p, &input);
	t->control = (struct jvs_offcpu_control){ .on = 1, .every = 1, .least_ns = LEAST_NS };
	set_control(offcpu, p);
}

/* Fewer are looked at before the budget is used up; more again when half of it would do. */
static uint32_t every_of(const struct offcpu *offcpu, const struct offcpu_target *t)
{
	double cost_pct = governor_cost_pct(&t->budget.governor);
	uint32_t every = t->control.every;

	if (!(offcpu->max_overhead > 0))
		return 1;
	if (cost_pct > LIMIT_SHARE * offcpu->max_overhead && every < EVERY_MOST)
		return every * 2;
	if (cost_pct < LIMIT_SHARE * offcpu->max_overhead / 4 && every > 1)
		return every / 2;
	return every;
}

void offcpu_tick(struct offcpu *offcpu, const struct decoder *d, struct process *p,
		 struct recording *rec)
{
	struct offcpu_target *t = &offcpu->targets[p->index];
	struct rec_budget_event event = { .group = REC_PROBES_OFFCPU };
	struct jvs_offcpu_counts counts;
	struct governor_input input;
	uint32_t every, on;

	if (!t->budget.begun) {
		begin(offcpu, p);
		return;
	}
	read_counts(offcpu, p->index, &counts);
	input = input_of(&counts);
	budget_look(&t->budget, p, &input, p->class_cost_ns + p->vm_cost_ns);
	every = every_of(offcpu, t);
	on = t->budget.governor.attached;
	event.to = t->budget.governor.state;
	event.reason = t->budget.governor.reason;
	if (event.to == REC_NATIVE_EXACT && every > 1)
		event.to = REC_NATIVE_SAMPLED;
	if (event.to != t->budget.state)
		budget_change(&t->budget, d, p, rec, &event);
	if (every == t->control.every && on == t->control.on)
		return;
	t->control.every = every;
	t->control.on = on;
	set_control(offcpu, p);
}

void offcpu_finish(const struct offcpu *offcpu, const struct decoder *d, const struct process *p,
		   struct recording *rec)
{
	static const char *const names[JVS_OFFCPU_COUNT_NR] = {
#define X(name, text) [JVS_OFFCPU_COUNT_##name] = (text),
		JVS_OFFCPU_COUNTER_LIST(X)
#undef X
	};
	const struct offcpu_target *t = &offcpu->targets[p->index];
	struct jvs_offcpu_counts counts;
	char name[64];

	if (!p->rec_jvm || !t->budget.begun)
		return;
	read_counts(offcpu, p->index, &counts);
	for (int i = 0; i < JVS_OFFCPU_COUNT_NR; i++) {
		snprintf(name, sizeof(name), "offcpu_%s", names[i]);
		rec_vm_count_set(rec, p->rec_jvm, name, counts.values[i] - t->before.values[i]);
	}
	budget_tell(&t->budget, REC_PROBES_OFFCPU, d, p, rec);
}

void offcpu_forget(struct offcpu *offcpu, const struct process *p)
{
	struct offcpu_target *t = &offcpu->targets[p->index];

	*t = (struct offcpu_target){ 0 };
	set_control(offcpu, p);
	read_counts(offcpu, p->index, &t->before);
}

/* ---- records */

#define RUN_QUEUE "run queue" /* it could run, and another did */

/* What a thread waits for, by the system call it is in. */
static const struct {
	int call;
	const char *reason;
} reasons[] = {
	{ SYS_futex, "futex" },	     { SYS_nanosleep, "sleep" }, { SYS_clock_nanosleep, "sleep" },
	{ SYS_read, "read" },	     { SYS_pread64, "read" },	 { SYS_readv, "read" },
	{ SYS_preadv, "read" },	     { SYS_write, "write" },	 { SYS_pwrite64, "write" },
	{ SYS_writev, "write" },     { SYS_fsync, "write" },	 { SYS_fdatasync, "write" },
	{ SYS_recvfrom, "network" }, { SYS_recvmsg, "network" }, { SYS_sendto, "network" },
	{ SYS_sendmsg, "network" },  { SYS_accept, "network" },	 { SYS_accept4, "network" },
	{ SYS_connect, "network" },  { SYS_ppoll, "poll" },	 { SYS_pselect6, "poll" },
	{ SYS_epoll_pwait, "poll" },
#ifdef SYS_poll
	{ SYS_poll, "poll" },	     { SYS_select, "poll" },	 { SYS_epoll_wait, "poll" },
#endif
	{ SYS_wait4, "child" },	     { SYS_waitid, "child" },
};

static const char *reason_of(const struct jvs_offcpu_event *record)
{
	if (!record->state)
		return RUN_QUEUE;
	if (record->call < 0)
		return "page fault";
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].call == record->call)
			return reasons[i].reason;
	return "other";
}

static uint32_t string_of(struct recording *rec, const char *text)
{
	return rec_string(rec, text, strlen(text));
}

static void add(struct recording *rec, const struct rec_key *of, const char *reason, uint64_t ns,
		uint32_t weight)
{
	struct rec_key key = *of;

	key.label = string_of(rec, reason);
	rec_add(rec, &key, weight, (int64_t)(ns * weight));
}

/* Until it was woken it waited for something, then for a CPU. */
static void add_times(struct recording *rec, const struct rec_key *key,
		      const struct jvs_offcpu_event *record)
{
	uint64_t woken_ns = record->woken_ns;

	if (woken_ns < record->start_ns || woken_ns > record->event.time_ns)
		woken_ns = record->state ? record->event.time_ns : record->start_ns;
	if (woken_ns > record->start_ns)
		add(rec, key, reason_of(record), woken_ns - record->start_ns, record->weight);
	if (record->event.time_ns > woken_ns)
		add(rec, key, RUN_QUEUE, record->event.time_ns - woken_ns, record->weight);
}

/* The time until it was woken, by the name of the thread that did. */
static void add_waker(struct recording *rec, struct process *p, const struct rec_key *of,
		      const struct jvs_offcpu_event *record)
{
	struct jvs_event by = record->event;
	struct rec_key key = *of;
	const struct rec_thread *waker;

	if (!record->waker || record->woken_ns <= record->start_ns)
		return;
	by.tid = record->waker;
	waker = rec_thread_get(rec, decode_thread(p, rec, &by));
	key.metric = REC_WAKEUP;
	key.label = waker ? waker->name : 0;
	rec_add(rec, &key, record->weight,
		(int64_t)((record->woken_ns - record->start_ns) * record->weight));
}

void offcpu_decode(struct decoder *d, struct recording *rec, const void *data, size_t size)
{
	const struct jvs_offcpu_event *record = data;
	struct process *p = &d->processes[record->event.target];
	struct rec_key key = { .metric = REC_OFFCPU };

	if (size < sizeof(*record)) {
		d->bad_records++;
		return;
	}
	if (!p->target || !p->rec_jvm || record->event.time_ns < record->start_ns)
		return;
	key.jvm = p->rec_jvm;
	key.thread = decode_thread(p, rec, &record->event);
	if (record->stack)
		decode_stack(d, record->stack, &key.stack);
	add_times(rec, &key, record);
	add_waker(rec, p, &key, record);
}
