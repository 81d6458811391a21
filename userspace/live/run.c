/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "jvm/jvm.h"
#include "live/live_impl.h"
#include "live/settings.h"
#include "model/recording.h"
#include "target/container.h"
#include "target/target.h"

/* The part of live.h that works while sampling: targets come and go, records are drained. */

#define RETRY_NS   5000000  /* how often a JVM that is starting is looked at */
#define THREADS_NS 20000000 /* the least time between two looks at new threads */
/*
 * Looks at the mappings of one process take a part of our time, one in REMAP_SHARE in the long run.
 * REMAP_BURST_NS of it may be used at once, so that a JVM that is starting, which maps a library
 * each millisecond, is looked at each time. REMAP_COST_NS is the most that a look counts: reading
 * a library's unwind rows is done once.
 */
#define REMAP_SHARE    20
#define REMAP_BURST_NS 500000000
#define REMAP_COST_NS  10000000

/*
 * New stacks wait so long: the code they name is hardly ever gone by then. A JVM that was just
 * found may be over soon, and its last stacks could not be named any more.
 */
#define STACKS_NS  60000000 /* with a tick each 100 ms that is one wake-up more between two */
#define PROMPT_NS  2000000000
#define RING_PART  16	    /* it may fill this part of the ring meanwhile */
#define FOREIGN_NS 10000000 /* the side band rests so long when it told of other processes */

#define TICKS_REFRESH	10 /* live_tick calls between two looks at what a JVM's layout lacks */
#define REFRESHES_OFTEN 20 /* looks at each tick, after the JVM was found */
#define TICKS_CPUS	10 /* live_tick calls between two looks at the CPUs */
#define LOOKS_OFTEN \
	300 /* times a JVM that is starting is looked at each RETRY_NS, then each tick */
#define TICKS_LOOK     20 /* live_tick calls between two looks then */
#define TICKS_THREADS  5  /* live_tick calls between two looks at the threads */
#define TICKS_FORGET   50 /* live_tick calls between two times ended threads are forgotten */
#define TICKS_SETTLE   10 /* live_tick calls before what can wait is done */
#define TICKS_MAPPINGS 10 /* the same for mappings, without a side band */

/* ---- targets */

/* Attaches probes to the libjvm of a process, once it has one. Once a program. */
static void attach_probes(struct live *live, struct process *p)
{
	const struct mapping *mapping;
	struct image *image;
	struct maps maps;
	bool classes = live->classes && !classes_attached(live->classes, p);
	bool native = live->native && !native_attached(live->native, p);
	bool place = live->classes && !classes_placed(live->classes, p);
	bool vm = live->vm && !vm_attached(live->vm, p);

	if ((!classes && !native && !place && !vm) || maps_read(p->target->pid, &maps))
		return;
	mapping = process_find_file(p, &maps, "libjvm.so", &image);
	if (mapping && classes)
		classes_attach(live->classes, p, image, mapping);
	if (mapping && place)
		classes_place(live->classes, p, image, mapping);
	if (mapping && native)
		native_attach(live->native, p, &maps);
	if (mapping && vm)
		vm_attach(live->vm, p, &maps, image, mapping);
	maps_free(&maps);
}

/* One look for the JVM. Afterwards the mappings are told apart from the code heap. */
static int look_for_jvm(struct live *live, struct process *p)
{
	bool had = p->jvm != NULL;
	int err = process_find_jvm(p, &live->tables);

	if (p->libjvm_mapped)
		attach_probes(live, p);
	if (!err && live->classes)
		classes_look(live->classes, p);
	p->looks++;
	if (err == -EAGAIN && p->looks < LOOKS_OFTEN)
		live->retry_ns = clock_monotonic_ns() + RETRY_NS;
	if (err == -EAGAIN && p->looks == LOOKS_OFTEN * 2)
		log_warn("pid %d: its JVM is starting or makes no sense: native frames only so far",
			 p->target->pid);
	if (err || had)
		return err;
	process_refresh_mappings(p, &live->images, &live->tables);
	process_refresh_threads(p, &live->tables, !live->running);
	live->prompt_ns = clock_monotonic_ns() + PROMPT_NS;
	return 0;
}

/* An ended target gives its place up when there is no other: what it was is in the recording. */
static struct process *free_place(struct live *live)
{
	struct process *ended = NULL;

	for (uint32_t i = 0; i < live->process_count; i++) {
		if (!live->processes[i].target)
			return &live->processes[i];
		if (live->processes[i].state == PROCESS_ENDED && !ended)
			ended = &live->processes[i];
	}
	if (live->process_count < JVS_MAX_TARGETS)
		return &live->processes[live->process_count++];
	if (!ended)
		return NULL;
	if (live->classes)
		classes_leave(live->classes, ended);
	if (live->native)
		native_forget(live->native, ended);
	if (live->vm)
		vm_forget(live->vm, ended);
	if (live->offcpu)
		offcpu_forget(live->offcpu, ended);
	live->gone_cpu_ns += process_cpu_ns(ended);
	live->gone_native |= !ended->jvm;
	process_close(ended, &live->images, &live->tables);
	return ended;
}

/* A JVM that is starting, or of which native frames at least can be shown. */
static bool may_become_java(int err)
{
	return err == -EAGAIN || err == -EPROTO || err == -ENOMEM || err == -ESRCH;
}

int live_add(struct live *live, pid_t pid, bool must_be_jvm, uint32_t *index)
{
	struct process *p = free_place(live);
	int err;

	if (!p) {
		log_error("pid %d: no room, %d processes are recorded at most", pid,
			  JVS_MAX_TARGETS);
		return -ENOSPC;
	}
	err = process_open(p, &live->images, &live->tables, pid, (uint32_t)(p - live->processes));
	if (err)
		return err;
	if (must_be_jvm && !p->libjvm_mapped) {
		log_error("pid %d: not a HotSpot JVM (no libjvm.so mapped)", pid);
		err = -ENOENT;
		goto out;
	}
	err = look_for_jvm(live, p);
	if (err && must_be_jvm && !may_become_java(err)) {
		if (err == -ENOENT)
			log_error("pid %d: not a HotSpot JVM (its libjvm.so has no vmStructs)",
				  pid);
		else
			log_error("pid %d: its JVM cannot be read: %s", pid, strerror(-err));
		goto out;
	}
	err = pace_add_once(&live->pace, p->target->pidfd);
	if (err)
		goto out;
	process_refresh_threads(p, &live->tables, true);
	process_enable(p, &live->tables, live->running);
	*index = p->index;
	return 0;
out:
	process_close(p, &live->images, &live->tables);
	return err;
}

static uint32_t text(struct recording *rec, const char *s)
{
	return rec_string(rec, s, strlen(s));
}

/* What the outputs say of a target. Called again when its JVM became readable. */
static void describe(struct process *p, struct recording *rec)
{
	struct container container;
	struct rec_jvm about = { .pid = p->target->pid }, *jvm;
	char line[JVM_ARGUMENTS_MAX];

	if (!p->rec_jvm)
		p->rec_jvm = rec_jvm(rec, &about);
	jvm = rec_jvm_get(rec, p->rec_jvm);
	if (!jvm)
		return;
	if (p->target->ns_pid != p->target->pid)
		jvm->container_pid = p->target->ns_pid;
	jvm->start_time_ns = p->target->start_time_ns;
	container_of_pid(p->target->pid, &container);
	jvm->container_id = text(rec, container.id);
	jvm->pod_uid = text(rec, container.pod_uid);
	if (p->libjvm_mapped) {
		jvm_main_class(p->target, p->jvm, line, sizeof(line));
		jvm->main_class = text(rec, line);
		jvm_arguments(p->target, p->jvm, line, sizeof(line));
		jvm->arguments = text(rec, line);
	}
	if (!p->jvm)
		return;
	jvm->major = jvm_major(p->jvm);
	jvm->version = text(rec, jvm_version(p->jvm));
	jvm->gc_name = text(rec, jvm_gc_name(p->jvm));
	settings_put(p, rec);
}

static void describe_new(struct live *live, struct recording *rec)
{
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target && !live->processes[i].rec_jvm)
			describe(&live->processes[i], rec);
}

/* ---- running */

static int64_t epoch_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int live_start(struct live *live, struct recording *rec)
{
	int err;

	describe_new(live, rec);
	live->running = true;
	/* Unwind rows were made here and copied into BPF maps. */
	malloc_trim(0);
	rec_meta(rec)->start_time_ns = epoch_now();
	live->decoder.epoch_ns = rec_meta(rec)->start_time_ns - (int64_t)clock_monotonic_ns();
	for (uint32_t i = 0; i < live->process_count; i++) {
		if (!live->processes[i].target)
			continue;
		/* What it used while the others were looked at was not sampled. */
		process_read_cpu(&live->processes[i], true);
		process_enable(&live->processes[i], &live->tables, true);
	}
	err = live->options.events & LIVE_EVENT_CPU ? clock_attach(&live->clock, live->on_sample)
						    : 0;
	if (!err && live->options.switches) {
		live->switch_link = bpf_program__attach(live->on_switch);
		err = live->switch_link ? 0 : -errno;
	}
	if (err)
		live->running = false;
	return err;
}

int live_fd(const struct live *live)
{
	return live->pace.epoll;
}

/* The code cache grows by mapping, several times a second: no file is behind it. */
static bool is_code_heap(const struct process *p, const struct sideband_record *record)
{
	return record->event == SIDEBAND_MAPPED && p->jvm &&
	       jvm_in_code_heap(p->jvm, record->address);
}

static void on_sideband(const struct sideband_record *record, void *ctx)
{
	struct live *live = ctx;
	bool told = false;

	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];

		if (!p->target || (record->pid >= 0 && p->target->pid != record->pid) ||
		    is_code_heap(p, record))
			continue;
		told = true;
		p->exec |= record->event == SIDEBAND_EXEC;
		p->remap |= record->event != SIDEBAND_NAMED;
		p->rethread |= record->event != SIDEBAND_MAPPED;
	}
	live->told += told;
	live->foreign += !told;
}

static void remap_process(struct live *live, struct process *p, struct recording *rec)
{
	if (p->exec && p->state != PROCESS_WAITING) {
		log_info("pid %d: runs another program now", p->target->pid);
		process_forget_jvm(p, &live->tables);
		if (live->classes)
			classes_forget(live->classes, p);
		if (live->native)
			native_forget(live->native, p);
		if (live->vm)
			vm_forget(live->vm, p);
	}
	p->exec = false;
	process_refresh_mappings(p, &live->images, &live->tables);
	if (p->state != PROCESS_WAITING)
		return;
	if (p->libjvm_mapped)
		look_for_jvm(live, p);
	describe(p, rec);
}

static bool wants_remap(const struct process *p)
{
	return p->target && p->state != PROCESS_ENDED && p->remap;
}

/* What a look at the mappings cost moves the time on from which there may be another. */
static void charge_remap(struct process *p, uint64_t start_ns)
{
	uint64_t cost_ns = clock_monotonic_ns() - start_ns;

	if (cost_ns > REMAP_COST_NS)
		cost_ns = REMAP_COST_NS;
	if (p->remap_ns + REMAP_BURST_NS < start_ns)
		p->remap_ns = start_ns - REMAP_BURST_NS;
	p->remap_ns += REMAP_SHARE * cost_ns;
}

/* A process that maps code in a loop must not take all our time. */
static void remap(struct live *live, struct recording *rec, uint64_t now_ns)
{
	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];
		uint64_t start_ns;

		if (!wants_remap(p) || now_ns < p->remap_ns)
			continue;
		start_ns = clock_monotonic_ns();
		p->remap = false;
		remap_process(live, p, rec);
		charge_remap(p, start_ns);
	}
}

/* JVMs that are starting are looked at again. */
static void retry_waiting(struct live *live, uint64_t now_ns)
{
	if (!live->retry_ns || now_ns < live->retry_ns)
		return;
	live->retry_ns = 0;
	for (uint32_t i = 0; i < live->process_count; i++)
		live->processes[i].remap |= live->processes[i].state == PROCESS_WAITING;
}

/* Which thread is which JavaThread is wanted soon, but thousands may start in a second. */
static void look_at_new_threads(struct live *live, uint64_t now_ns)
{
	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];

		if (!p->target || p->state != PROCESS_JAVA || !p->rethread ||
		    now_ns - p->threads_ns < THREADS_NS)
			continue;
		p->rethread = false;
		p->threads_ns = now_ns;
		process_refresh_threads(p, &live->tables, false);
	}
}

/* Whether what comes until the ring's rest is over would fill too much of it. */
static bool ring_fills_fast(const struct live *live, uint64_t now_ns)
{
	double per_ns = (double)live->ring_bytes / (double)(now_ns - live->ring_ns + 1);

	return per_ns * STACKS_NS > (double)live->options.ring_bytes / RING_PART;
}

static int drain_ring(struct live *live, struct recording *rec, uint64_t now_ns)
{
	uint64_t had = live->decoder.whole_stacks;
	int count;

	live->rec = rec;
	count = ring_buffer__consume(live->ring);
	/* At a tick while it rests: what comes next can wait from now on. */
	if (live->ring_pace.armed ||
	    (live->decoder.whole_stacks == had && !pace_is_due(&live->ring_pace, now_ns)))
		return count;
	if (live->decoder.whole_stacks == had || now_ns < live->prompt_ns ||
	    ring_fills_fast(live, now_ns))
		pace_arm(&live->pace, &live->ring_pace);
	else
		pace_rest(&live->ring_pace, now_ns + STACKS_NS);
	live->ring_ns = now_ns;
	live->ring_bytes = 0;
	return count;
}

/* A JVM that is starting maps libraries which run at once. */
static bool one_is_starting(const struct live *live)
{
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target && live->processes[i].state == PROCESS_WAITING)
			return true;
	return false;
}

static void drain_sideband(struct live *live, uint64_t now_ns)
{
	live->told = live->foreign = 0;
	sideband_drain(&live->sideband, on_sideband, live);
	if (live->sideband.count == 0 || !pace_is_due(&live->sideband_pace, now_ns))
		return;
	if (live->foreign && !live->told && !one_is_starting(live))
		pace_rest(&live->sideband_pace, now_ns + FOREIGN_NS);
	else
		pace_arm(&live->pace, &live->sideband_pace);
}

/* When something is to be done although nothing wakes us. */
static uint64_t next_look_ns(const struct live *live)
{
	uint64_t next_ns = pace_earlier(live->ring_pace.due_ns, live->sideband_pace.due_ns);

	next_ns = pace_earlier(next_ns, live->retry_ns);
	if (live->native && live->running)
		next_ns = pace_earlier(next_ns, native_slice_end_ns(live->native));
	for (uint32_t i = 0; i < live->process_count; i++)
		if (wants_remap(&live->processes[i]))
			next_ns = pace_earlier(next_ns, live->processes[i].remap_ns);
	return next_ns;
}

int live_poll(struct live *live, struct recording *rec)
{
	uint64_t now_ns = clock_monotonic_ns();
	int count;

	describe_new(live, rec);
	pace_take(&live->pace, now_ns);
	if (live->native && live->running)
		native_look_at_slices(live->native, &live->decoder, rec, now_ns);
	/* Before the ring: new libraries run at once, and the stacks in the ring take long. */
	drain_sideband(live, now_ns);
	retry_waiting(live, now_ns);
	remap(live, rec, now_ns);
	count = drain_ring(live, rec, now_ns);
	look_at_new_threads(live, now_ns);
	pace_wake_at(&live->pace, next_look_ns(live));
	return count;
}

struct forgetting {
	struct process *p;
	struct recording *rec;
};

/* One that used no CPU time, as far as was seen, gets no row for it. */
static void on_thread_ended(const struct known_thread *known, void *ctx)
{
	const struct forgetting *forgetting = ctx;

	if (known->last_cpu_ns > known->start_cpu_ns)
		live_finish_thread(forgetting->p, known, forgetting->rec);
}

static void tick_process(struct live *live, struct process *p, struct recording *rec)
{
	struct forgetting forgetting = { p, rec };

	if (!target_alive(p->target)) {
		process_read_cpu(p, false);
		live_poll(live, rec);
		pace_remove(&live->pace, p->target->pidfd);
		process_end(p, &live->tables);
		live_finish_process(p, rec);
		/* Its place may be given to another before the end. */
		live_finish_probes(live, p, rec);
		if (live->native)
			native_leave(live->native, p);
		return;
	}
	if (p->state == PROCESS_WAITING && p->libjvm_mapped) {
		/* One that does not become readable is not worth much of our time. */
		if ((p->looks < LOOKS_OFTEN * 2 || live->ticks % TICKS_LOOK == 0) &&
		    !look_for_jvm(live, p))
			describe(p, rec);
	} else if (p->state == PROCESS_JAVA) {
		if (live->ticks % TICKS_REFRESH == 0 || p->refreshes < REFRESHES_OFTEN) {
			p->refreshes++;
			process_find_jvm(p, &live->tables);
		}
		jvm_trim(p->jvm);
	}
	if (live->classes)
		classes_tick(live->classes, &live->decoder, p, rec);
	if (live->vm)
		vm_tick(live->vm, &live->decoder, p, rec);
	if (live->offcpu)
		offcpu_tick(live->offcpu, &live->decoder, p, rec);
	if (live->native)
		native_tick(live->native, &live->decoder, p, rec);
	process_read_cpu(p, false);
	if (live->ticks % TICKS_THREADS == 0)
		process_refresh_threads(p, &live->tables, false);
	if (live->ticks % TICKS_FORGET == 0)
		process_forget_threads(p, on_thread_ended, &forgetting);
	if (live->sideband.count == 0 && live->ticks % TICKS_MAPPINGS == 0)
		process_refresh_mappings(p, &live->images, &live->tables);
}

int live_tick(struct live *live, struct recording *rec)
{
	bool settled = true;
	int alive = 0;

	live->ticks++;
	/* The side band tells sooner; this is for code it does not tell of. */
	for (uint32_t i = 0; i < live->process_count; i++) {
		live->processes[i].remap |= live->processes[i].unmapped;
		live->processes[i].unmapped = false;
	}
	live_poll(live, rec);
	if (live->native)
		native_tick_all(live->native, &live->decoder, clock_monotonic_ns());
	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];

		if (!p->target || p->state == PROCESS_ENDED)
			continue;
		tick_process(live, p, rec);
		alive += p->state != PROCESS_ENDED;
		settled &= p->state != PROCESS_WAITING;
	}
	/* A slice may have begun, which is over before the next tick. */
	pace_wake_at(&live->pace, next_look_ns(live));
	if (live->running && live->options.events & LIVE_EVENT_CPU && live->ticks % TICKS_CPUS == 0)
		clock_follow_cpus(&live->clock, live->on_sample);
	/* Not while a JVM is starting, which may be over soon. */
	if (settled && live->ticks > TICKS_SETTLE)
		resolve_kernel_names(&live->decoder.resolver, rec);
	return alive;
}

/* Ends sampling at one moment on all CPUs; detaching takes a while on many. */
static void stop_targets(struct live *live, struct recording *rec)
{
	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];

		if (!p->target || p->state == PROCESS_ENDED)
			continue;
		process_enable(p, &live->tables, false);
		if (live->native)
			native_stop(live->native, p);
		process_read_cpu(p, false);
	}
	rec_meta(rec)->end_time_ns = epoch_now();
}

/* While files are written: their targets need not wait for that. */
static void give_up_probes(struct live *live)
{
	if (live->native)
		native_give_up(live->native, &live->leaving);
	if (live->classes)
		classes_give_up(live->classes, &live->leaving);
	if (live->vm)
		vm_give_up(live->vm, &live->leaving);
	if (live->offcpu)
		offcpu_stop(live->offcpu);
	probes_close(&live->leaving);
}

int live_stop(struct live *live, struct recording *rec)
{
	stop_targets(live, rec);
	give_up_probes(live);
	clock_detach(&live->clock);
	bpf_link__destroy(live->switch_link);
	live->switch_link = NULL;
	live->running = false;
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target && live->processes[i].state != PROCESS_ENDED)
			process_read_times(&live->processes[i]);
	while (live_poll(live, rec) > 0)
		;
	for (uint32_t i = 0; live->classes && i < live->process_count; i++)
		classes_tick(live->classes, &live->decoder, &live->processes[i], rec);
	resolve_kernel_names(&live->decoder.resolver, rec);
	live_finish(live, rec);
	return rec_error(rec);
}
