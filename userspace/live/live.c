/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "jvm/jvm.h"
#include "jvmscope.skel.h"
#include "live/cost.h"
#include "live/decode.h"
#include "live/events.h"
#include "live/needs.h"
#include "live/process.h"
#include "live/tables.h"
#include "live/testing.h"
#include "model/recording.h"
#include "target/container.h"
#include "target/target.h"

#define RETRY_NS	5000000 /* how often a JVM that is starting is looked at */
#define TICKS_THREADS	5	/* live_tick calls between two looks at the threads */
#define TICKS_MAPPINGS	10	/* the same for mappings, without a side band */
#define LIBBPF_LINE_MAX 256

struct live {
	struct live_options options;
	struct jvmscope_bpf *skel;
	struct ring_buffer *ring;
	struct clock_events clock;
	struct sideband sideband;
	struct tables tables;
	struct images images;
	struct process processes[JVS_MAX_TARGETS];
	uint32_t process_count;
	struct decoder decoder;
	struct recording *rec; /* while live_poll drains */
	int epoll;
	int retry; /* timerfd, armed while a JVM is starting */
	uint64_t open_cpu_ns;
	uint32_t ticks;
	bool running;
};

/* ---- libbpf's own messages: kept to explain a failure, shown only with -v */

static char last_libbpf_line[LIBBPF_LINE_MAX];

static int keep_libbpf_line(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char line[LIBBPF_LINE_MAX];
	int len = vsnprintf(line, sizeof(line), fmt, args);

	line[strcspn(line, "\n")] = '\0';
	if (level == LIBBPF_WARN && line[0])
		memcpy(last_libbpf_line, line, sizeof(line));
	if (level != LIBBPF_DEBUG && line[0])
		log_debug("%s", line);
	return len;
}

/* ---- opening */

static uint64_t power_of_two_pages(uint64_t bytes)
{
	uint64_t size = 4096;

	while (size < bytes && size < 1ull << 30)
		size *= 2;
	return size;
}

static int size_maps(struct live *live)
{
	struct jvmscope_bpf *skel = live->skel;
	int cpus = libbpf_num_possible_cpus();
	uint32_t slots, parts;

	if (cpus < 0)
		return cpus;
	slots = (uint32_t)cpus * JVS_SLOTS_PER_CPU;
	parts = (live->options.max_depth + JVS_PART_FRAMES - 1) / JVS_PART_FRAMES;
	skel->rodata->jvs_max_depth = live->options.max_depth;
	skel->rodata->jvs_parts_per_slot = parts;
	bpf_map__set_max_entries(skel->maps.jvs_slots, slots);
	bpf_map__set_max_entries(skel->maps.jvs_parts, slots * parts);
	bpf_map__set_max_entries(skel->maps.jvs_rows, TABLES_MAX_ROWS);
	bpf_map__set_max_entries(skel->maps.jvs_row_index, TABLES_MAX_INDEX);
	bpf_map__set_max_entries(skel->maps.jvs_mappings, TABLES_MAX_MAPPINGS);
	bpf_map__set_max_entries(skel->maps.jvs_events,
				 (uint32_t)power_of_two_pages(live->options.ring_bytes));
	return 0;
}

static int load(struct live *live)
{
	int err;

	libbpf_set_print(keep_libbpf_line);
	live->skel = jvmscope_bpf__open();
	if (!live->skel) {
		err = -errno;
		log_error("BPF object: cannot be opened: %s", strerror(errno));
		return err;
	}
	bpf_program__set_autoload(live->skel->progs.jvs_on_switch, live->options.switches);
	err = size_maps(live);
	if (!err)
		err = jvmscope_bpf__load(live->skel);
	if (err)
		needs_explain_load(err, last_libbpf_line);
	return err;
}

static int open_tables(struct live *live)
{
	const struct table_fds fds = {
		.targets = bpf_map__fd(live->skel->maps.jvs_targets),
		.mappings = bpf_map__fd(live->skel->maps.jvs_mappings),
		.rows = bpf_map__fd(live->skel->maps.jvs_rows),
		.index = bpf_map__fd(live->skel->maps.jvs_row_index),
		.pids = bpf_map__fd(live->skel->maps.jvs_pids),
		.threads = bpf_map__fd(live->skel->maps.jvs_threads),
		.seen = bpf_map__fd(live->skel->maps.jvs_seen_stacks),
	};

	return tables_open(&live->tables, &fds);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct live *live = ctx;

	decode_record(&live->decoder, live->rec, data, size);
	return 0;
}

static int watch(struct live *live, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(live->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_waiting(struct live *live)
{
	int err;

	live->ring =
		ring_buffer__new(bpf_map__fd(live->skel->maps.jvs_events), on_record, live, NULL);
	live->epoll = epoll_create1(EPOLL_CLOEXEC);
	live->retry = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!live->ring || live->epoll < 0 || live->retry < 0) {
		err = -errno;
		log_error("ring buffer: cannot be opened: %s", strerror(errno));
		return err;
	}
	err = watch(live, ring_buffer__epoll_fd(live->ring));
	if (!err)
		err = watch(live, live->retry);
	if (!err && sideband_open(&live->sideband) == 0)
		err = watch(live, live->sideband.epoll);
	return err;
}

int live_open(const struct live_options *options, struct live **out)
{
	struct live *live;
	int err;

	err = needs_check();
	if (err)
		return err;
	live = calloc(1, sizeof(*live));
	if (!live)
		return -ENOMEM;
	live->options = *options;
	live->epoll = live->retry = -1;
	live->sideband.epoll = -1;
	live->open_cpu_ns = cost_own_cpu_ns();
	live->decoder.processes = live->processes;
	live->decoder.period_ns = 1000000000u / options->frequency;

	err = load(live);
	if (!err)
		err = open_tables(live);
	if (!err)
		err = open_waiting(live);
	if (!err)
		err = clock_open(options->clock, options->frequency, &live->clock);
	if (err) {
		live_close(live);
		return err;
	}
	live->decoder.seen_fd = live->tables.seen_fd;
	*out = live;
	return 0;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	clock_close(&live->clock);
	sideband_close(&live->sideband);
	if (live->tables.targets) {
		for (uint32_t i = 0; i < live->process_count; i++)
			process_close(&live->processes[i], &live->images, &live->tables);
		images_free(&live->images, &live->tables);
	}
	decode_free(&live->decoder);
	ring_buffer__free(live->ring);
	tables_close(&live->tables);
	jvmscope_bpf__destroy(live->skel);
	if (live->epoll >= 0)
		close(live->epoll);
	if (live->retry >= 0)
		close(live->retry);
	free(live);
}

/* ---- targets */

static void arm_retry(struct live *live, bool on)
{
	struct itimerspec spec = { .it_value.tv_nsec = on ? RETRY_NS : 0 };

	timerfd_settime(live->retry, 0, &spec, NULL);
}

/* One look for the JVM. Afterwards the mappings are told apart from the code heap. */
static int look_for_jvm(struct live *live, struct process *p)
{
	bool had = p->jvm != NULL;
	int err = process_find_jvm(p, &live->tables);

	if (err == -EAGAIN || (err == -ENOENT && p->libjvm_mapped))
		arm_retry(live, true);
	if (err || had)
		return err;
	process_refresh_mappings(p, &live->images, &live->tables);
	process_refresh_threads(p, &live->tables, !live->running);
	return 0;
}

static struct process *free_place(struct live *live)
{
	for (uint32_t i = 0; i < live->process_count; i++)
		if (!live->processes[i].target)
			return &live->processes[i];
	if (live->process_count == JVS_MAX_TARGETS)
		return NULL;
	return &live->processes[live->process_count++];
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
	if (err == -ENOENT && must_be_jvm) {
		log_error("pid %d: not a HotSpot JVM (its libjvm.so has no vmStructs)", pid);
		goto out;
	}
	err = watch(live, p->target->pidfd);
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
	char line[4096];

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
	jvm_main_class(p->target, line, sizeof(line));
	jvm->main_class = text(rec, line);
	jvm_arguments(p->target, line, sizeof(line));
	jvm->arguments = text(rec, line);
	if (!p->jvm)
		return;
	jvm->major = jvm_major(p->jvm);
	jvm->version = text(rec, jvm_version(p->jvm));
	jvm->gc_name = text(rec, jvm_gc_name(p->jvm));
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
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target)
			process_enable(&live->processes[i], &live->tables, true);
	live->running = true;
	rec_meta(rec)->start_time_ns = epoch_now();
	err = clock_attach(&live->clock, live->skel->progs.jvs_on_sample);
	if (!err && live->options.switches && !live->skel->links.jvs_on_switch) {
		live->skel->links.jvs_on_switch =
			bpf_program__attach(live->skel->progs.jvs_on_switch);
		err = live->skel->links.jvs_on_switch ? 0 : -errno;
	}
	if (err)
		live->running = false;
	return err;
}

int live_fd(const struct live *live)
{
	return live->epoll;
}

static void on_mapped(pid_t pid, void *ctx)
{
	struct live *live = ctx;

	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];

		if (p->target && (pid < 0 || p->target->pid == pid))
			p->remap = true;
	}
}

static void remap(struct live *live, struct recording *rec)
{
	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];

		if (!p->target || p->state == PROCESS_ENDED || !p->remap)
			continue;
		p->remap = false;
		process_refresh_mappings(p, &live->images, &live->tables);
		if (p->state == PROCESS_WAITING && p->libjvm_mapped && !look_for_jvm(live, p))
			describe(p, rec);
	}
}

int live_poll(struct live *live, struct recording *rec)
{
	uint64_t expired;
	int count;

	describe_new(live, rec);
	live->rec = rec;
	count = ring_buffer__consume(live->ring);
	sideband_drain(&live->sideband, on_mapped, live);
	if (read(live->retry, &expired, sizeof(expired)) == sizeof(expired))
		on_mapped(-1, live);
	if (live->decoder.remap) {
		live->decoder.remap = false;
		on_mapped(-1, live);
	}
	remap(live, rec);
	return count;
}

static void tick_process(struct live *live, struct process *p, struct recording *rec)
{
	if (!target_alive(p->target)) {
		process_cpu_ns(p);
		live_poll(live, rec);
		epoll_ctl(live->epoll, EPOLL_CTL_DEL, p->target->pidfd, NULL);
		process_end(p, &live->tables);
		return;
	}
	if (p->state == PROCESS_WAITING && p->libjvm_mapped && !look_for_jvm(live, p))
		describe(p, rec);
	else if (p->state == PROCESS_JAVA)
		process_find_jvm(p, &live->tables);
	process_cpu_ns(p);
	if (live->ticks % TICKS_THREADS == 0)
		process_refresh_threads(p, &live->tables, false);
	if (live->sideband.count == 0 && live->ticks % TICKS_MAPPINGS == 0)
		process_refresh_mappings(p, &live->images, &live->tables);
}

int live_tick(struct live *live, struct recording *rec)
{
	int alive = 0;

	live->ticks++;
	live_poll(live, rec);
	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];

		if (!p->target || p->state == PROCESS_ENDED)
			continue;
		tick_process(live, p, rec);
		alive += p->state != PROCESS_ENDED;
	}
	return alive;
}

/* ---- the end */

static const struct {
	const char *name;
	bool loss;
} counters[JVS_COUNT_NR] = {
#define X(counter, text, is_loss) [JVS_COUNT_##counter] = { text, is_loss },
	JVS_COUNTER_LIST(X)
#undef X
};

static uint64_t counter(const struct live *live, uint32_t target, uint32_t which)
{
	uint32_t key = target * JVS_COUNT_NR + which;

	return cost_percpu_sum(bpf_map__fd(live->skel->maps.jvs_counters), key);
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
#define X(status, text, class) [JVS_STATUS_##status] = { text, class },
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

static void add_thread_times(struct live *live, struct recording *rec)
{
	for (uint32_t t = 0; t < live->process_count; t++) {
		struct process *p = &live->processes[t];

		if (!p->target)
			continue;
		for (size_t i = 0; i < p->known_count; i++) {
			const struct known_thread *known = &p->known[i];
			uint32_t id = rec_thread(rec, p->rec_jvm, known->tid);
			struct rec_thread *thread = rec_thread_get(rec, id);

			if (thread && known->last_cpu_ns > known->start_cpu_ns)
				thread->cpu_ns = known->last_cpu_ns - known->start_cpu_ns;
			if (thread && !thread->name)
				decode_name_thread(p, rec, thread);
		}
	}
}

static void add_cost(struct live *live, struct recording *rec)
{
	struct rec_meta *meta = rec_meta(rec);

	meta->frequency_hz = live->options.frequency;
	meta->max_depth = live->options.max_depth;
	meta->clock = text(rec, live->clock.cycles ? "cycles" : "cpu-clock");
	meta->cpus = (uint32_t)live->clock.count;
	meta->own_cpu_ns = cost_own_cpu_ns() - live->open_cpu_ns;
	meta->own_rss_bytes = cost_own_rss_bytes();
	meta->own_map_bytes = cost_map_bytes(live->skel->obj);
	meta->target_cpu_ns = 0;
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target)
			meta->target_cpu_ns += process_cpu_ns(&live->processes[i]);
	if (meta->target_cpu_ns)
		meta->achieved_hz = (double)meta->seen * 1e9 / (double)meta->target_cpu_ns;
}

int live_stop(struct live *live, struct recording *rec)
{
	clock_detach(&live->clock);
	live->running = false;
	rec_meta(rec)->end_time_ns = epoch_now();
	for (uint32_t i = 0; i < live->process_count; i++) {
		struct process *p = &live->processes[i];

		if (!p->target || p->state == PROCESS_ENDED)
			continue;
		process_enable(p, &live->tables, false);
		process_read_times(p);
	}
	while (live_poll(live, rec) > 0)
		;
	add_counters(live, rec);
	add_stack_quality(live, rec);
	add_thread_times(live, rec);
	add_cost(live, rec);
	return rec_error(rec);
}

/* ---- asking */

void live_status(struct live *live, struct live_status *out)
{
	struct live_status status = { .samples = live->decoder.samples,
				      .own_cpu_ns = cost_own_cpu_ns() - live->open_cpu_ns,
				      .clock = live->clock.cycles ? "cycles" : "cpu-clock" };

	for (uint32_t s = 0; s < JVS_STATUS_NR; s++) {
		enum rec_stack_state state = resolve_state_of(s);
		uint64_t count = live->decoder.by_status[s];

		status.complete += state == REC_STACK_COMPLETE ? count : 0;
		status.truncated += state == REC_STACK_TRUNCATED ? count : 0;
		status.broken += state == REC_STACK_BROKEN ? count : 0;
	}
	status.lost = live->decoder.lost_stack;
	for (uint32_t i = 0; i < live->process_count; i++) {
		const struct process *p = &live->processes[i];

		for (uint32_t c = 0; c < JVS_COUNT_NR; c++)
			if (counters[c].loss)
				status.lost += counter(live, i, c);
		status.targets += p->target && p->state != PROCESS_ENDED;
		status.java += p->jvm != NULL;
	}
	*out = status;
}

bool live_all_java(const struct live *live)
{
	for (uint32_t i = 0; i < live->process_count; i++)
		if (live->processes[i].target && !live->processes[i].jvm)
			return false;
	return true;
}

/* ---- for tests */

void live_set_hooks(struct live *live, const struct decode_hooks *hooks)
{
	live->decoder.hooks = hooks;
}

struct jvs_target *live_target(struct live *live, uint32_t index)
{
	return &live->tables.targets[index];
}

int live_try_load(char *line, size_t size)
{
	struct jvmscope_bpf *skel;
	int err;

	libbpf_set_print(keep_libbpf_line);
	last_libbpf_line[0] = '\0';
	skel = jvmscope_bpf__open_and_load();
	err = skel ? 0 : -errno;
	jvmscope_bpf__destroy(skel);
	snprintf(line, size, "%s", last_libbpf_line);
	return err;
}
