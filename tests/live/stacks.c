/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel side saw, for tests that compare it with another walk of the same thread.
 *
 *   stacks arm PID		for each line on standard input: stops the next thread that is
 *				sampled in user mode, exactly there, and prints its raw stack
 *   stacks switch PID SECONDS	samples whenever a thread leaves its CPU; at the end, for every
 *				thread, the Java frames of the last of these stacks
 *   stacks broken PID SECONDS	samples, and prints every raw stack that is not complete
 *   stacks recalled PID SECONDS	walks every stack of an allocation that the kernel recalls,
 *and prints how many were the same, and how many not
 *
 * Each stack is one line of JSON.
 */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/jvs_abi.h"
#include "live/decode.h"
#include "live/live.h"
#include "live/testing.h"
#include "model/recording.h"

#define ARM_SECONDS 3
#define LAST_MAX    4096 /* threads */

struct stacks {
	struct live *live;
	struct recording *rec;
	uint32_t index;
	uint64_t seen;
	bool only_broken;
	struct {
		uint32_t tid;
		uint32_t stack;
		uint32_t status;
	} last[LAST_MAX];
	size_t last_count;
};

static const char *const statuses[] = {
#define X(name, text, class) text,
	JVS_STATUS_LIST(X)
#undef X
};

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void print_raw(void *ctx, const struct jvs_stack_part *part, const struct raw_stack *raw)
{
	struct stacks *s = ctx;

	s->seen++;
	if (s->only_broken && raw->status == JVS_STATUS_END)
		return;
	printf("{\"tid\": %u, \"status\": \"%s\", \"start_pc\": %llu, \"start_sp\": %llu, "
	       "\"walked\": %u, \"fail\": [%llu, %llu, %llu], \"frames\": [",
	       part->event.tid, statuses[raw->status], part->start_pc, part->start_sp, raw->walked,
	       part->fail_pc, part->fail_sp, part->fail_fp);
	for (uint32_t i = 0; i < raw->stored; i++) {
		const struct jvs_frame *f = &raw->frames[i];

		printf("%s[%u, %u, %llu, %u, %u]", i ? ", " : "", (uint32_t)(f->word >> 56),
		       (uint32_t)(f->word >> JVS_ADDRESS_BITS & 0xff), f->word & JVS_ADDRESS_MASK,
		       f->offset, f->cookie);
	}
	printf("]}\n");
	fflush(stdout);
}

static void arm_once(struct stacks *s)
{
	struct jvs_target *target = live_target(s->live, s->index);
	double end = now() + ARM_SECONDS;
	uint64_t had = s->seen;

	__atomic_store_n(&target->arm, 1, __ATOMIC_RELEASE);
	while (s->seen == had && now() < end) {
		struct pollfd wait = { .fd = live_fd(s->live), .events = POLLIN };

		poll(&wait, 1, 10);
		live_poll(s->live, s->rec);
	}
	if (s->seen == had) {
		__atomic_store_n(&target->arm, 2, __ATOMIC_RELEASE);
		printf("{\"status\": \"none\"}\n");
		fflush(stdout);
	}
}

static void run_arm(struct stacks *s)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		live_tick(s->live, s->rec);
		arm_once(s);
	}
}

static void keep_last(void *ctx, const struct jvs_cpu_sample *sample, uint32_t stack)
{
	struct stacks *s = ctx;
	size_t at = 0;

	if (sample->source != JVS_SLOT_SWITCH)
		return;
	while (at < s->last_count && s->last[at].tid != sample->event.tid)
		at++;
	if (at == LAST_MAX)
		return;
	if (at == s->last_count)
		s->last_count++;
	s->last[at].tid = sample->event.tid;
	s->last[at].stack = stack;
	s->last[at].status = sample->status;
}

static void print_java_frame(const struct recording *rec, const struct rec_frame *frame)
{
	const struct rec_method *method = rec_method_get(rec, frame->method);
	const char *class_name =
		rec_text(rec, method->raw_class ? method->raw_class : method->class_name);

	printf("\"%s.%s(", class_name, rec_text(rec, method->name));
	if (frame->line == -2)
		printf("Native Method)\"");
	else if (!method->file)
		printf("Unknown Source)\"");
	else if (frame->line < 0)
		printf("%s)\"", rec_text(rec, method->file));
	else
		printf("%s:%d)\"", rec_text(rec, method->file), frame->line);
}

static void print_last(const struct stacks *s)
{
	for (size_t i = 0; i < s->last_count; i++) {
		struct rec_stack stack = rec_stack_get(s->rec, s->last[i].stack);
		const char *comma = "";

		printf("{\"tid\": %u, \"status\": \"%s\", \"frames\": [", s->last[i].tid,
		       statuses[s->last[i].status]);
		for (uint32_t k = 0; k < stack.count; k++) {
			const struct rec_frame *frame = rec_frame_get(s->rec, stack.frames[k]);

			if (!rec_kind_is_java(frame->kind))
				continue;
			printf("%s", comma);
			print_java_frame(s->rec, frame);
			comma = ", ";
		}
		printf("]}\n");
	}
}

static void run_for(struct stacks *s, double seconds)
{
	double end = now() + seconds, tick = now();

	while (now() < end) {
		struct pollfd wait = { .fd = live_fd(s->live), .events = POLLIN };

		poll(&wait, 1, 20);
		live_poll(s->live, s->rec);
		if (now() < tick)
			continue;
		live_tick(s->live, s->rec);
		tick = now() + 0.1;
	}
	live_stop(s->live, s->rec);
}

static uint64_t count_of(const struct stacks *s, const char *name)
{
	size_t count;
	const struct rec_quality_row *rows = rec_quality_rows(s->rec, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].count;
	return 0;
}

static void print_recalled(const struct stacks *s)
{
	printf("{\"same\": %" PRIu64 ", \"other\": %" PRIu64 "}\n", count_of(s, "recalled_same"),
	       count_of(s, "recalled_other"));
}

int main(int argc, char **argv)
{
	bool arm = argc == 3 && strcmp(argv[1], "arm") == 0;
	bool switches = argc == 4 && strcmp(argv[1], "switch") == 0;
	bool broken = argc == 4 && strcmp(argv[1], "broken") == 0;
	bool recalled = argc == 4 && strcmp(argv[1], "recalled") == 0;
	struct live_options options = { .events = LIVE_EVENT_CPU,
					.frequency = arm      ? 499
						     : broken ? 997
							      : 1,
					.max_depth = 4096,
					.ring_bytes = 16 << 20,
					.clock = LIVE_CLOCK_CPU,
					.switches = switches };
	static struct stacks s;
	struct decode_hooks hooks = { .ctx = &s,
				      .stack = arm || broken ? print_raw : NULL,
				      .sample = switches ? keep_last : NULL };
	pid_t pid;

	if (!arm && !switches && !broken && !recalled) {
		fprintf(stderr,
			"usage: stacks arm PID | stacks switch|broken|recalled PID SECONDS\n");
		return 2;
	}
	pid = (pid_t)strtol(argv[2], NULL, 10);
	s.only_broken = broken;
	if (recalled)
		options.events |= LIVE_EVENT_NATIVE | LIVE_EVENT_LIBC;
	s.rec = rec_new();
	if (!s.rec || live_open(&options, &s.live) || live_add(s.live, pid, arm, &s.index))
		return 1;
	live_set_hooks(s.live, &hooks);
	if (arm)
		live_target(s.live, s.index)->arm = 2;
	if (recalled)
		__atomic_or_fetch(&live_target(s.live, s.index)->flags, JVS_TARGET_WALK_AGAIN,
				  __ATOMIC_RELEASE);
	if (live_start(s.live, s.rec))
		return 1;
	if (arm)
		run_arm(&s);
	else
		run_for(&s, strtod(argv[3], NULL));
	if (switches)
		print_last(&s);
	if (recalled)
		print_recalled(&s);
	live_close(s.live);
	rec_free(s.rec);
	return 0;
}
