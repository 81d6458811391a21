/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How jvm/ names frames, for tests that compare it with another reader of the same JVM.
 *
 *   names PID	each line of standard input is a frame: kind (enum jvs_frame_kind), address in
 *		hexadecimal, offset, cookie, whether it is a leaf. Answers with one line for every
 *		activation, members parted by tabs, innermost first; "error NUMBER" when there is
 *		no name; and an empty line. The time it took goes to standard error at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jvm/jvm.h"
#include "target/maps.h"
#include "target/target.h"

static const char *const types[] = {
	[JVM_FRAME_INTERPRETED] = "Interpreted",
	[JVM_FRAME_C1] = "C1",
	[JVM_FRAME_C2] = "C2",
	[JVM_FRAME_INLINED] = "Inlined",
	[JVM_FRAME_NATIVE] = "Native",
	[JVM_FRAME_STUB] = "Stub",
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void print_frame(const struct jvm_frame *frame)
{
	const struct jvm_method *m = frame->method;

	if (!m) {
		printf("%s\t%s\n", types[frame->type], frame->stub);
		return;
	}
	printf("%s\t%s\t%s\t%s\t%d\t%d\t%s\t%d\n", types[frame->type], m->class_name, m->name,
	       m->signature, frame->bci, frame->line, m->source_file ? m->source_file : "",
	       frame->level);
}

static void answer_all(struct jvm *jvm)
{
	struct jvm_frame out[JVM_INLINE_MAX];
	struct jvs_frame frame;
	unsigned int kind, leaf;
	uint64_t address;
	double total_us = 0, start_us;
	size_t frames = 0;
	int count;

	while (scanf("%u %" SCNx64 " %" SCNu32 " %" SCNu32 " %u", &kind, &address, &frame.offset,
		     &frame.cookie, &leaf) == 5) {
		frame.word = jvs_frame_word(address, kind, 0);
		start_us = now_us();
		count = jvm_describe(jvm, &frame, leaf, out);
		total_us += now_us() - start_us;
		frames++;
		if (count < 0)
			printf("error %d\n", -count);
		for (int i = 0; i < count; i++)
			print_frame(&out[i]);
		printf("\n");
	}
	fprintf(stderr, "%zu frames, %.2f us each, %zu KiB\n", frames,
		frames ? total_us / (double)frames : 0, jvm_memory(jvm) / 1024);
}

int main(int argc, char **argv)
{
	struct target *target;
	struct maps maps;
	struct jvm *jvm;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: names PID\n");
		return 2;
	}
	if (target_open((pid_t)strtol(argv[1], NULL, 10), &target))
		return 1;
	err = maps_read(target->pid, &maps);
	if (!err)
		err = jvm_open(target, &maps, &jvm);
	if (err) {
		fprintf(stderr, "names: %s\n", strerror(-err));
		return 1;
	}
	answer_all(jvm);
	jvm_close(jvm);
	maps_free(&maps);
	target_close(target);
	return 0;
}
