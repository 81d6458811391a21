/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_IMPL_H
#define JVMSCOPE_LIVE_IMPL_H

#include "live/decode.h"
#include "live/events.h"
#include "live/images.h"
#include "live/live.h"
#include "live/process.h"
#include "live/tables.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct jvmscope_bpf;
struct recording;
struct ring_buffer;

/* What stands behind live.h: live.c opens and loads, run.c drains, finish.c counts. */
struct live {
	struct live_options options;
	struct jvmscope_bpf *skel; /* owned; only live.c knows its members */
	struct bpf_object *object; /* the same, as libbpf sees it */
	struct bpf_program *on_sample;
	struct bpf_program *on_switch;
	struct bpf_link *switch_link; /* owned; NULL but in tests */
	int counters_fd;
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
	bool retry_armed;
	uint64_t open_cpu_ns;
	/* of ended targets whose place was taken */
	uint64_t gone_cpu_ns;
	bool gone_native; /* one had no JVM that could be read */
	uint32_t ticks;
	bool running;
};

/*
 * Adds a descriptor to those live_fd() waits for. flags: of epoll_ctl(), beside EPOLLIN.
 * Returns 0 or a negative errno.
 */
int live_watch(struct live *live, int fd, uint32_t flags);

/* What is left to say of one thread, for the last time or so far. */
void live_finish_thread(struct process *p, const struct known_thread *known, struct recording *rec);

/* What is left to say of a target's threads: while it lives, or when it has just ended. */
void live_finish_process(struct process *p, struct recording *rec);

/* Counters, times and own cost, when all records are drained. */
void live_finish(struct live *live, struct recording *rec);

#endif
