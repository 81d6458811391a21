/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/recording_impl.h"

static const struct {
	const char *name;
	bool is_java;
} kinds[REC_FRAME_KIND_NR] = {
	[REC_FRAME_INTERPRETED] = { "interpreted", true },
	[REC_FRAME_C1] = { "c1", true },
	[REC_FRAME_C2] = { "c2", true },
	[REC_FRAME_INLINED] = { "inlined", true },
	[REC_FRAME_NATIVE] = { "native", true },
	[REC_FRAME_KERNEL] = { "kernel", false },
	[REC_FRAME_STUB] = { "stub", false },
	[REC_FRAME_CPP] = { "cpp", false },
};

const char *rec_kind_name(enum rec_frame_kind kind)
{
	return kinds[kind].name;
}

bool rec_kind_is_java(enum rec_frame_kind kind)
{
	return kinds[kind].is_java;
}

const char *rec_state_name(enum rec_thread_state state)
{
	static const char *const names[REC_STATE_NR] = {
		[REC_STATE_IN_JAVA] = "in_java",     [REC_STATE_IN_NATIVE] = "in_native",
		[REC_STATE_IN_VM] = "in_vm",	     [REC_STATE_BLOCKED] = "blocked",
		[REC_STATE_VM_THREAD] = "vm_thread", [REC_STATE_UNKNOWN] = "unknown",
	};

	return names[state];
}

/* ---- methods and frames */

uint32_t rec_method(struct recording *rec, const struct rec_method *method)
{
	struct rec_method row;
	bool full;
	uint32_t id = rec_table_add(rec, &rec->methods, method, rec->limits.methods, &full);

	if (!full)
		return id;
	rec_quality_add(rec, REC_QUALITY_INFO, "methods_over_limit", 1);
	row = (struct rec_method){
		.name = rec_string(rec, REC_TRUNCATED, strlen(REC_TRUNCATED)),
	};
	return rec_table_add(rec, &rec->methods, &row, UINT32_MAX, &full);
}

const struct rec_method *rec_method_get(const struct recording *rec, uint32_t id)
{
	static const struct rec_method none;
	const struct rec_method *method = table_get(&rec->methods, id);

	return method ? method : &none;
}

uint32_t rec_method_count(const struct recording *rec)
{
	return rec->methods.count;
}

static uint32_t truncated_frame(struct recording *rec)
{
	struct rec_method method = {
		.name = rec_string(rec, REC_TRUNCATED, strlen(REC_TRUNCATED)),
	};
	struct rec_frame frame = { .kind = REC_FRAME_STUB, .line = -1, .bci = -1 };
	bool full;

	frame.method = rec_table_add(rec, &rec->methods, &method, UINT32_MAX, &full);
	return rec_table_add(rec, &rec->frames, &frame, UINT32_MAX, &full);
}

uint32_t rec_frame(struct recording *rec, const struct rec_frame *frame)
{
	bool full;
	uint32_t id = rec_table_add(rec, &rec->frames, frame, rec->limits.frames, &full);

	if (!full)
		return id;
	rec_quality_add(rec, REC_QUALITY_INFO, "frames_over_limit", 1);
	return truncated_frame(rec);
}

void rec_frame_name(struct recording *rec, uint32_t id, uint32_t method)
{
	struct rec_frame *frame = table_get(&rec->frames, id);

	/* It is not found by its new contents: the same frame added later is a second row. */
	if (!frame || !method)
		return;
	frame->method = method;
	frame->offset = 0;
}

const struct rec_frame *rec_frame_get(const struct recording *rec, uint32_t id)
{
	static const struct rec_frame none = { .kind = REC_FRAME_STUB, .line = -1, .bci = -1 };
	const struct rec_frame *frame = table_get(&rec->frames, id);

	return frame ? frame : &none;
}

uint32_t rec_frame_count(const struct recording *rec)
{
	return rec->frames.count;
}

/* ---- text */

/* Adds a string of the recording to to, which holds len bytes. Returns the new length. */
static size_t add_text(const struct recording *rec, uint32_t string, char *to, size_t len,
		       size_t size)
{
	const char *text = rec_text(rec, string);

	return len + text_utf8(text, strlen(text), to + len, size - len);
}

const char *rec_method_text(const struct recording *rec, uint32_t id, char *to, size_t size)
{
	const struct rec_method *method = rec_method_get(rec, id);
	size_t len = 0;

	if (!size)
		return "";
	to[0] = 0;
	if (!method->name && !method->class_name && !method->module) {
		snprintf(to, size, "[unknown]");
		return to;
	}
	if (!method->name && !method->class_name) {
		add_text(rec, method->module, to, 0, size);
		return to;
	}
	if (method->class_name) {
		len = add_text(rec, method->class_name, to, len, size);
		len += text_utf8(".", 1, to + len, size - len);
	}
	add_text(rec, method->name, to, len, size);
	return to;
}

const char *rec_frame_text(const struct recording *rec, uint32_t id, char *to, size_t size)
{
	const struct rec_frame *frame = rec_frame_get(rec, id);
	const struct rec_method *method = rec_method_get(rec, frame->method);
	size_t len;

	rec_method_text(rec, frame->method, to, size);
	if (method->name || method->class_name || !method->module || !size)
		return to;
	len = strlen(to);
	snprintf(to + len, size - len, "+0x%llx", (unsigned long long)frame->offset);
	return to;
}

size_t rec_text_size(const struct recording *rec)
{
	size_t longest = 0;

	for (uint32_t id = 1; id <= rec->methods.count; id++) {
		const struct rec_method *method = rec_method_get(rec, id);
		size_t len = strlen(rec_text(rec, method->class_name)) +
			     strlen(rec_text(rec, method->name));
		size_t module_len = strlen(rec_text(rec, method->module));

		if (module_len > len)
			len = module_len;
		if (len > longest)
			longest = len;
	}
	/* A bad byte becomes the three of U+FFFD; the rest is for ".", "+0x...", "[unknown]". */
	return 3 * longest + 32;
}
