/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "jvmscope.skel.h"
#include "live/cost.h"
#include "live/live_impl.h"
#include "live/needs.h"
#include "live/testing.h"
#include "target/target.h"
#include "trie/trie.h"

#define LIBBPF_LINE_MAX 256

/* ---- libbpf's own messages: kept to explain a failure, shown only with -v */

static char last_libbpf_line[LIBBPF_LINE_MAX];

static int keep_libbpf_line(enum libbpf_print_level level, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));

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
	int cpus = possible_cpus();
	uint32_t slots, parts;

	if (cpus < 0)
		return cpus;
	/* Only the programs that are loaded need scratch slots; those of samples come first. */
	live->decoder.slots_per_cpu = JVS_SLOT_SAMPLE + 1;
	if (live->options.switches || live->options.events & LIVE_EVENT_OFFCPU)
		live->decoder.slots_per_cpu = JVS_SLOT_SWITCH + 1;
	if (live->options.events & LIVE_EVENT_PROBES)
		live->decoder.slots_per_cpu = JVS_SLOTS_PER_CPU;
	bpf_map__set_autocreate(skel->maps.jvs_memos, live->options.events & LIVE_EVENT_PROBES);
	slots = (uint32_t)cpus * live->decoder.slots_per_cpu;
	skel->rodata->jvs_slots_per_cpu = live->decoder.slots_per_cpu;
	parts = JVS_PARTS_OF(live->options.max_depth);
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

static int choose_classes(struct live *live)
{
	const struct trie *trie = live->options.trie;

	live->skel->rodata->jvs_trie_count = trie ? trie->count : 0;
	live->skel->rodata->jvs_trie_long_count = trie ? trie->long_count : 0;
	return classes_choose(live->object, trie, live->options.events & LIVE_EVENT_CLASS);
}

static int choose_native(struct live *live)
{
	const struct native_sizes sizes = { .live_blocks = live->options.live_blocks,
					    .sites = live->options.sites };

	native_fill_tables(live->skel->rodata->jvs_native_log,
			   live->skel->rodata->jvs_native_weight);
	if (sizes.sites)
		live->skel->rodata->jvs_native_max_sites = sizes.sites;
	return native_choose(live->object, &sizes, live->options.events & LIVE_EVENT_NATIVE);
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
	live->object = live->skel->obj;
	live->on_sample = live->skel->progs.jvs_on_sample;
	live->on_switch = live->skel->progs.jvs_on_switch;
	err = size_maps(live);
	if (!err)
		err = choose_classes(live);
	if (!err)
		err = choose_native(live);
	if (!err)
		err = vm_choose(live->object, live->options.events);
	if (!err)
		err = offcpu_choose(live->object, live->options.events & LIVE_EVENT_OFFCPU);
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

	live->counters_fd = bpf_map__fd(live->skel->maps.jvs_counters);
	return tables_open(&live->tables, &fds);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct live *live = ctx;

	live->ring_bytes += size;
	decode_record(&live->decoder, live->rec, data, size);
	return 0;
}

static int open_waiting(struct live *live)
{
	int err;

	live->ring =
		ring_buffer__new(bpf_map__fd(live->skel->maps.jvs_events), on_record, live, NULL);
	err = live->ring ? pace_open(&live->pace) : -errno;
	if (!err)
		err = pace_add(&live->pace, &live->ring_pace, ring_buffer__epoll_fd(live->ring));
	if (err) {
		log_error("ring buffer: cannot be opened: %s", strerror(-err));
		return err;
	}
	if (sideband_open(&live->sideband) == 0)
		err = pace_add(&live->pace, &live->sideband_pace, live->sideband.epoll);
	return err;
}

/* Every image of a target holds a descriptor; the soft limit is often 1,024. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_native(struct live *live)
{
	const struct native_options options = {
		.libc = live->options.events & LIVE_EVENT_LIBC,
		.max_overhead = live->options.max_overhead,
	};

	return native_open(live->object, &options, &live->native);
}

/* Loading takes half a second: who named no process is told before. */
static int check_pids(const struct live_options *options)
{
	for (size_t i = 0; i < options->pid_count; i++) {
		struct target *target;
		int err;

		if (!kill(options->pids[i], 0) || errno != ESRCH)
			continue;
		err = target_open(options->pids[i], &target);
		if (err)
			return err;
		target_close(target);
	}
	return 0;
}

int live_open(const struct live_options *options, struct live **out)
{
	struct live *live;
	int err;

	err = needs_check();
	if (!err)
		err = check_pids(options);
	if (err)
		return err;
	live = calloc(1, sizeof(*live));
	if (!live) {
		log_error("recording: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	live->options = *options;
	live->pace = (struct pace){ .epoll = -1, .timer = -1 };
	allow_many_files();
	live->sideband.epoll = -1;
	live->open_cpu_ns = cost_own_cpu_ns();
	live->decoder.processes = live->processes;
	live->decoder.period_ns = 1000000000u / options->frequency;

	err = load(live);
	if (!err)
		err = open_tables(live);
	if (!err)
		err = open_waiting(live);
	if (!err && options->events & LIVE_EVENT_CLASS)
		err = classes_open(live->object, options->trie, options->max_overhead,
				   &live->classes);
	if (!err && options->events & LIVE_EVENT_NATIVE)
		err = open_native(live);
	if (!err && options->events & LIVE_EVENT_OFFCPU)
		err = offcpu_open(live->object, options->max_overhead, &live->offcpu);
	if (!err && options->events & LIVE_EVENT_VM)
		err = vm_open(live->object, options->events, options->max_overhead, &live->vm);
	if (!err)
		err = clock_open(options->clock, options->frequency, &live->clock);
	if (err) {
		live_close(live);
		return err;
	}
	live->decoder.seen = live->tables.seen;
	live->decoder.classes = live->classes;
	live->decoder.calls = live->native ? &live->native->calls : NULL;
	live->decoder.vm = live->vm;
	live->decoder.mappings = live->native ? &live->native->mappings : NULL;
	*out = live;
	return 0;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	clock_close(&live->clock);
	bpf_link__destroy(live->switch_link);
	native_close(live->native);
	classes_close(live->classes);
	vm_close(live->vm);
	offcpu_close(live->offcpu);
	probes_wait(&live->leaving);
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
	pace_close(&live->pace);
	free(live);
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
