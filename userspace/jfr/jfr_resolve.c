/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_resolve.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_events.h"
#include "model/groups.h"
#include "model/names.h"

/* Fields of the wants. */
enum { STACK_TRUNCATED, STACK_FRAMES };
enum { FRAME_METHOD, FRAME_LINE, FRAME_BCI, FRAME_TYPE };
enum { METHOD_CLASS, METHOD_NAME, METHOD_DESCRIPTOR };
enum {
	THREAD_OS_NAME,
	THREAD_OS_ID,
	THREAD_JAVA_NAME,
	THREAD_JAVA_ID,
	THREAD_GROUP,
	THREAD_VIRTUAL
};
enum { GROUP_PARENT, GROUP_NAME };

#define NATIVE_LINE (-2)

void jfr_resolve_chunk(struct jfr_resolver *r, const struct jfr_chunk *chunk)
{
	r->chunk = chunk;
	map64_free(&r->stacks);
	map64_free(&r->methods);
	map64_free(&r->threads);
	map64_free(&r->types);
	map64_free(&r->frame_types);
}

void jfr_resolver_free(struct jfr_resolver *r)
{
	jfr_resolve_chunk(r, NULL);
	map64_free(&r->jvms);
	map64_free(&r->started);
	free(r->frames);
	strbuf_free(&r->text);
	strbuf_free(&r->normal);
	strbuf_free(&r->raw);
}

static uint32_t add_text(struct jfr_resolver *r, const struct strbuf *text)
{
	return text->len ? rec_string(r->rec, text->text, text->len) : 0;
}

static uint32_t remember(struct jfr_resolver *r, struct map64 *map, int64_t id, uint32_t value)
{
	if (map64_set(map, (uint64_t)id, value))
		r->err = -ENOMEM;
	return value;
}

/* As jfr_text(), into r->text; one that is cut is counted. */
static bool read_text(struct jfr_resolver *r, const struct jfr_item *item, unsigned int field)
{
	bool found = jfr_text(item, field, &r->text);

	r->names_cut += r->text.truncated;
	return found;
}

/* The text of a constant; "" when there is none. */
static const char *text_of(struct jfr_resolver *r, const struct jfr_item *item, unsigned int field)
{
	read_text(r, item, field);
	return strbuf_text(&r->text);
}

/* ---- JVMs */

#define NS_PER_MS 1000000

static uint64_t start_of(const struct rec_jvm *jvm)
{
	const uint64_t words[] = { (uint64_t)jvm->pid, jvm->start_time_ns / NS_PER_MS };

	return map64_hash(words, sizeof(words));
}

/* Most events name one, and a file may have many. */
static void find_jvms(struct jfr_resolver *r)
{
	while (r->jvms_known < rec_jvm_count(r->rec)) {
		uint32_t id = ++r->jvms_known;
		const struct rec_jvm *jvm = rec_jvm_get(r->rec, id);

		remember(r, &r->jvms, jvm->pid, id);
		remember(r, &r->started, (int64_t)start_of(jvm), id);
	}
}

uint32_t jfr_resolve_jvm(struct jfr_resolver *r, int64_t pid)
{
	uint32_t id;

	find_jvms(r);
	return map64_get(&r->jvms, (uint64_t)pid, &id) ? id : 0;
}

uint32_t jfr_resolve_same_jvm(struct jfr_resolver *r, const struct rec_jvm *jvm)
{
	uint32_t id;

	find_jvms(r);
	return map64_get(&r->started, start_of(jvm), &id) ? id : 0;
}

/* ---- methods */

/* Names that stand in brackets elsewhere; JMC takes a class with a bracket for an array. */
static const char *module_text(const char *name)
{
	static const char *const bracketed[] = { "[kernel]", "[vdso]", "[vsyscall]", "[heap]" };

	for (size_t i = 0; i < sizeof(bracketed) / sizeof(bracketed[0]); i++) {
		if (strlen(name) + 2 == strlen(bracketed[i]) &&
		    !memcmp(name, bracketed[i] + 1, strlen(name)))
			return bracketed[i];
	}
	return name;
}

static bool is_native(const char *descriptor)
{
	return !strcmp(descriptor, JFR_DESCRIPTOR_NATIVE) ||
	       !strcmp(descriptor, JFR_DESCRIPTOR_KERNEL);
}

static uint32_t string_of(struct jfr_resolver *r, const char *text)
{
	return *text ? rec_string(r->rec, text, strlen(text)) : 0;
}

/* Native code: the class is the library. */
static void fill_native(struct jfr_resolver *r, const struct jfr_item *item,
			struct rec_method *method)
{
	method->module = string_of(r, module_text(text_of(r, item, METHOD_CLASS)));
	method->name = string_of(r, text_of(r, item, METHOD_NAME));
	method->signature = 0;
}

/*
 * Without what the recorder of JDK 15 to 20 appends to the name of a hidden class, its identity
 * hash: "Foo$$Lambda$88+0x00007fbd64009220/182259421".
 */
static size_t class_len(const struct strbuf *name)
{
	size_t at = name->len;

	while (at && isdigit((unsigned char)name->text[at - 1]))
		at--;
	if (!at || name->text[at - 1] != '/' || at == name->len)
		return name->len;
	return strstr(strbuf_text(name), "+0x") ? at - 1 : name->len;
}

static void fill_java(struct jfr_resolver *r, const struct jfr_item *item,
		      struct rec_method *method)
{
	read_text(r, item, METHOD_CLASS);
	names_class(strbuf_text(&r->text), class_len(&r->text), &r->normal, &r->raw);
	method->class_name = add_text(r, &r->normal);
	method->raw_class = add_text(r, &r->raw);
	method->name = string_of(r, text_of(r, item, METHOD_NAME));
}

static uint32_t make_method(struct jfr_resolver *r, int64_t id)
{
	struct rec_method method = { 0 };
	struct jfr_item item, file;
	const char *descriptor;

	if (!jfr_constant(r->chunk, JFR_WANT_METHOD, id, &item))
		return 0;
	descriptor = text_of(r, &item, METHOD_DESCRIPTOR);
	if (is_native(descriptor)) {
		fill_native(r, &item, &method);
	} else {
		if (strcmp(descriptor, JFR_DESCRIPTOR_UNKNOWN) != 0)
			method.signature = string_of(r, descriptor);
		fill_java(r, &item, &method);
		if (jfr_constant(r->chunk, JFR_WANT_SOURCE_FILE, id, &file))
			method.file = string_of(r, text_of(r, &file, 0));
	}
	return rec_method(r->rec, &method);
}

uint32_t jfr_resolve_method(struct jfr_resolver *r, int64_t id)
{
	uint32_t method;

	if (map64_get(&r->methods, (uint64_t)id, &method))
		return method;
	return remember(r, &r->methods, id, make_method(r, id));
}

/* ---- types */

static uint32_t make_type(struct jfr_resolver *r, int64_t id)
{
	struct jfr_item item;

	if (!jfr_constant(r->chunk, JFR_WANT_CLASS, id, &item) || !read_text(r, &item, 0))
		return 0;
	names_type(strbuf_text(&r->text), class_len(&r->text), &r->normal, &r->raw);
	return add_text(r, &r->normal);
}

uint32_t jfr_resolve_type(struct jfr_resolver *r, int64_t id)
{
	uint32_t type;

	if (map64_get(&r->types, (uint64_t)id, &type))
		return type;
	return remember(r, &r->types, id, make_type(r, id));
}

/* ---- frames */

static uint32_t frame_type_of(struct jfr_resolver *r, int64_t id)
{
	uint32_t pool = r->chunk->wanted[JFR_WANT_FRAME_TYPE].type;
	uint32_t found;

	if (map64_get(&r->frame_types, (uint64_t)id, &found))
		return found;
	found = 0;
	if (jfr_constant_text(r->chunk, pool, id, &r->text)) {
		for (unsigned int type = 0; type < JFR_FRAME_NR; type++) {
			const char *name = jfr_frame_type_name((enum jfr_frame_type)type);

			if (!strcmp(strbuf_text(&r->text), name))
				found = type + 1;
		}
	}
	return remember(r, &r->frame_types, id, found);
}

static enum rec_frame_kind kind_of(uint32_t type, const struct rec_method *method)
{
	static const enum rec_frame_kind java[JFR_FRAME_NR + 1] = {
		[0] = REC_FRAME_INTERPRETED,
		[1 + JFR_FRAME_INTERPRETED] = REC_FRAME_INTERPRETED,
		[1 + JFR_FRAME_JIT] = REC_FRAME_C2,
		[1 + JFR_FRAME_INLINED] = REC_FRAME_INLINED,
		[1 + JFR_FRAME_NATIVE] = REC_FRAME_NATIVE,
		[1 + JFR_FRAME_CPP] = REC_FRAME_CPP,
		[1 + JFR_FRAME_KERNEL] = REC_FRAME_KERNEL,
		[1 + JFR_FRAME_C1] = REC_FRAME_C1,
	};

	if (method->class_name || type == 1 + JFR_FRAME_CPP || type == 1 + JFR_FRAME_KERNEL)
		return java[type];
	/* Code of a library is "Native" for async-profiler, and so are stubs. */
	return method->module ? REC_FRAME_CPP : REC_FRAME_STUB;
}

/* "libfoo.so+0x1234" is code without a symbol: frames have the address, and the method no name. */
static void take_offset(struct jfr_resolver *r, struct rec_frame *frame)
{
	struct rec_method method = *rec_method_get(r->rec, frame->method);
	const char *name = rec_text(r->rec, method.name);
	const char *module = rec_text(r->rec, method.module);
	size_t len = strlen(module);
	char *end;

	if (!len || strncmp(name, module, len) != 0 || strncmp(name + len, "+0x", 3) != 0)
		return;
	frame->offset = strtoull(name + len + 1, &end, 16);
	method.name = 0;
	frame->method = rec_method(r->rec, &method);
}

static uint32_t make_frame(struct jfr_resolver *r, const struct jfr_item *item)
{
	uint32_t method = jfr_resolve_method(r, jfr_number(item, FRAME_METHOD));
	uint32_t type = frame_type_of(r, jfr_number(item, FRAME_TYPE));
	struct rec_frame frame = { .method = method, .line = -1, .bci = -1 };
	int64_t line = jfr_number(item, FRAME_LINE);

	frame.kind = kind_of(type, rec_method_get(r->rec, method));
	if (frame.kind == REC_FRAME_CPP || frame.kind == REC_FRAME_KERNEL) {
		take_offset(r, &frame);
	} else if (frame.kind == REC_FRAME_NATIVE) {
		frame.line = NATIVE_LINE;
	} else if (rec_kind_is_java(frame.kind)) {
		frame.line = line > 0 ? (int32_t)line : -1;
		frame.bci = (int32_t)jfr_number(item, FRAME_BCI);
		frame.bci = frame.bci < 0 ? -1 : frame.bci;
	}
	return rec_frame(r->rec, &frame);
}

/* ---- stacks */

static bool reserve_frames(struct jfr_resolver *r, size_t count)
{
	uint32_t *frames;

	if (count <= r->frame_capacity)
		return true;
	frames = reallocarray(r->frames, count, sizeof(*frames));
	if (!frames) {
		r->err = -ENOMEM;
		return false;
	}
	r->frames = frames;
	r->frame_capacity = count;
	return true;
}

/* In our files a second constant with the stack's id says whether it is broken. */
static enum rec_stack_state stack_state(struct jfr_resolver *r, const struct jfr_item *stack,
					int64_t id)
{
	uint32_t states = r->chunk->wanted[JFR_WANT_STACK_STATE].type;

	if (!jfr_number(stack, STACK_TRUNCATED))
		return REC_STACK_COMPLETE;
	if (jfr_constant_text(r->chunk, states, id, &r->text) &&
	    !strcmp(strbuf_text(&r->text), "broken"))
		return REC_STACK_BROKEN;
	return REC_STACK_TRUNCATED;
}

/* Behind count frames of a stack, those of an item. Returns how many there are then. */
static size_t add_frames(struct jfr_resolver *r, const struct jfr_item *item, unsigned int field,
			 size_t count)
{
	struct jfr_elements elements = jfr_elements(item, field, JFR_WANT_FRAME);
	struct jfr_item frame;

	if (!reserve_frames(r, count + elements.left))
		return count;
	while (jfr_next(&elements, &frame))
		r->frames[count++] = make_frame(r, &frame);
	return count;
}

/* In our files a second constant with the stack's id may have what is innermost. */
static uint32_t make_stack(struct jfr_resolver *r, int64_t id)
{
	struct jfr_item stack, inner;
	size_t count = 0;

	if (!jfr_constant(r->chunk, JFR_WANT_STACK, id, &stack))
		return 0;
	if (jfr_constant(r->chunk, JFR_WANT_INNER_FRAMES, id, &inner))
		count = add_frames(r, &inner, 0, count);
	count = add_frames(r, &stack, STACK_FRAMES, count);
	return count ? rec_stack(r->rec, r->frames, count, stack_state(r, &stack, id)) : 0;
}

uint32_t jfr_resolve_stack(struct jfr_resolver *r, int64_t id)
{
	uint32_t stack;

	if (map64_get(&r->stacks, (uint64_t)id, &stack))
		return stack;
	return remember(r, &r->stacks, id, make_stack(r, id));
}

/* ---- threads */

/* In our files a thread's group is in that of its JVM, "jvm 4242". */
static uint32_t jvm_of(struct jfr_resolver *r, const struct jfr_item *group)
{
	const char prefix[] = "jvm ", *name;
	struct jfr_item parent;

	if (!jfr_constant(r->chunk, JFR_WANT_GROUP, jfr_number(group, GROUP_PARENT), &parent))
		parent = *group;
	name = text_of(r, &parent, GROUP_NAME);
	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return 0;
	return jfr_resolve_jvm(r, strtol(name + sizeof(prefix) - 1, NULL, 10));
}

/*
 * In our files the last name is the best one; elsewhere the first: HotSpot's "main" is called
 * "DestroyJavaVM" in the end.
 */
static void name_thread(struct jfr_resolver *r, const struct jfr_item *item,
			struct rec_thread *thread, bool is_ours, uint32_t group)
{
	bool has_java_name = read_text(r, item, THREAD_JAVA_NAME);
	const char *text;

	if (!has_java_name)
		read_text(r, item, THREAD_OS_NAME);
	if (r->text.len && (is_ours || !thread->name))
		thread->name = add_text(r, &r->text);
	if (is_ours) {
		thread->group = group;
		return;
	}
	text = groups_of_thread(strbuf_text(&r->text),
				has_java_name || jfr_number(item, THREAD_JAVA_ID) > 0);
	thread->group = string_of(r, text);
}

/*
 * A virtual thread has no thread of the operating system: its number below zero stands for one, so
 * that it is not taken for its carrier.
 */
static pid_t tid_of(const struct jfr_item *item)
{
	if (jfr_number(item, THREAD_VIRTUAL))
		return -(pid_t)(jfr_number(item, THREAD_JAVA_ID) & INT32_MAX);
	return (pid_t)jfr_number(item, THREAD_OS_ID);
}

static uint32_t make_thread(struct jfr_resolver *r, int64_t id)
{
	struct jfr_item item, group;
	struct rec_thread *thread;
	uint32_t jvm = 0, group_name = 0, number;

	if (!jfr_constant(r->chunk, JFR_WANT_THREAD, id, &item))
		return 0;
	if (jfr_constant(r->chunk, JFR_WANT_GROUP, jfr_number(&item, THREAD_GROUP), &group)) {
		jvm = jvm_of(r, &group);
		if (jvm && jfr_number(&group, GROUP_PARENT))
			group_name = string_of(r, text_of(r, &group, GROUP_NAME));
	}
	number = rec_thread(r->rec, jvm ? jvm : r->jvm, tid_of(&item));
	thread = rec_thread_get(r->rec, number);
	if (thread)
		name_thread(r, &item, thread, jvm != 0, group_name);
	return number;
}

uint32_t jfr_resolve_thread(struct jfr_resolver *r, int64_t id)
{
	uint32_t thread;

	if (map64_get(&r->threads, (uint64_t)id, &thread))
		return thread;
	return remember(r, &r->threads, id, make_thread(r, id));
}
