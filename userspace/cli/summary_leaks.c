/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary_leaks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "model/native.h"
#include "model/recording.h"
#include "model/uncovered.h"

#define TOP_LEAKS	3
#define LEAK_LEAST	65536	  /* bytes that live; what the VM itself grows by is less */
#define UNCOVERED_LEAST (1 << 20) /* the blocks from before that are freed are some of that */
#define NAME_MAX_LEN	120

/* The first Java frame says who asked for it; what has none is named by its caller in the VM. */
static const char *name_of(const struct recording *rec, uint32_t id, char *to, size_t size)
{
	struct rec_stack stack = rec_stack_get(rec, id);

	for (uint32_t i = 0; i < stack.count; i++) {
		const struct rec_frame *frame = rec_frame_get(rec, stack.frames[i]);

		if (rec_kind_is_java(frame->kind) && frame->kind != REC_FRAME_NATIVE)
			return rec_frame_text(rec, stack.frames[i], to, size);
	}
	if (!stack.count)
		return "stack unknown";
	return rec_frame_text(rec, stack.frames[stack.count > 1], to, size);
}

static void write_leak(const struct recording *rec, const struct rec_native_suspect *leak,
		       FILE *out)
{
	char name[NAME_MAX_LEN], rate[TEXT_MAX], live[TEXT_MAX];

	fprintf(out, "%s/min %s in %s: %s in %" PRId64 " blocks live",
		text_bytes(leak->bytes_per_minute > 0 ? (uint64_t)leak->bytes_per_minute : 0, rate),
		rec_text(rec, leak->tag), name_of(rec, leak->stack, name, sizeof(name)),
		text_bytes((uint64_t)leak->live_bytes, live), leak->live_blocks);
	if (leak->survived)
		fprintf(out, ", half of it survived %" PRIu64 " collection%s", leak->survived,
			leak->survived > 1 ? "s" : "");
	fputc('\n', out);
}

static void write_leaks(const struct recording *rec, const struct colors *colors, FILE *out)
{
	size_t count;
	const struct rec_native_suspect *suspects = rec_native_suspects(rec, &count);
	int written = 0;

	for (size_t i = 0; i < count && written < TOP_LEAKS; i++) {
		if (suspects[i].kind != GROWTH_LEAK || suspects[i].live_bytes < LEAK_LEAST)
			continue;
		fprintf(out, "%s%-9s%s ", colors->bold, written++ ? "" : "leaks", colors->off);
		write_leak(rec, &suspects[i], out);
	}
}

static void write_uncovered(const struct recording *rec, const struct colors *colors, FILE *out)
{
	struct rec_uncovered most = { 0 }, found;
	char growth[TEXT_MAX], bytes[TEXT_MAX];

	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++)
		if (rec_uncovered(rec, jvm, &found) && found.uncovered_bytes > most.uncovered_bytes)
			most = found;
	if (most.uncovered_bytes < UNCOVERED_LEAST)
		return;
	fprintf(out, "%s%-9s%s %s of the %s by which libc's heap grew are at no site%s\n",
		colors->bold, "uncovered", colors->off,
		text_bytes((uint64_t)most.uncovered_bytes, bytes),
		text_bytes((uint64_t)most.growth_bytes, growth),
		most.with_libc ? "" : " of the VM: -e native=libc names who else allocates");
}

void summary_leaks(const struct recording *rec, const struct colors *colors, FILE *out)
{
	write_leaks(rec, colors, out);
	write_uncovered(rec, colors, out);
}
