/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#include "import/import_impl.h"

/* docs/json-schema.json has the format. Keys that are not known are not looked at. */

#define DEPTH_MAX 64 /* of arrays and objects; ours have 5 */

struct json {
	struct recording *rec;
	char *why;
	size_t why_size;
	int err;
	yajl_val strings; /* of the file */
	/* By index of the file; owned. */
	uint32_t *frames;
	uint32_t *stacks;
	uint32_t *threads;
	size_t frame_count, stack_count, thread_count;
};

/* ---- values; what is not there, or of another type, is 0 or "" */

static void fail(struct json *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct json *j, const char *fmt, ...)
{
	va_list args;

	if (j->err)
		return;
	j->err = -EBADMSG;
	va_start(args, fmt);
	vsnprintf(j->why, j->why_size, fmt, args);
	va_end(args);
}

static yajl_val get(yajl_val map, const char *key)
{
	const char *path[] = { key, NULL };

	return map ? yajl_tree_get(map, path, yajl_t_any) : NULL;
}

static int64_t integer(yajl_val value)
{
	return YAJL_IS_INTEGER(value) ? YAJL_GET_INTEGER(value) : 0;
}

/* Addresses use all 64 bits, which yajl has only as text. */
static uint64_t counter(yajl_val value)
{
	const char *digits = YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value) : "";

	return *digits >= '0' && *digits <= '9' ? strtoull(digits, NULL, 10) : 0;
}

static const char *text(yajl_val value)
{
	return YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : "";
}

static uint32_t string(struct json *j, yajl_val value)
{
	const char *bytes = text(value);

	return *bytes ? rec_string(j->rec, bytes, strlen(bytes)) : 0;
}

static size_t length(yajl_val array)
{
	return YAJL_IS_ARRAY(array) ? YAJL_GET_ARRAY(array)->len : 0;
}

static yajl_val at(yajl_val array, size_t i)
{
	yajl_val *values = YAJL_IS_ARRAY(array) ? YAJL_GET_ARRAY(array)->values : NULL;

	return values && i < length(array) ? values[i] : NULL;
}

/* The text a place in the file's strings has. */
static const char *text_at(struct json *j, yajl_val index)
{
	return YAJL_IS_INTEGER(index) ? text(at(j->strings, (size_t)integer(index))) : "";
}

static uint32_t string_at(struct json *j, yajl_val index)
{
	const char *bytes = text_at(j, index);

	return *bytes ? rec_string(j->rec, bytes, strlen(bytes)) : 0;
}

/* The id a place of the file has; 0 for null. */
static uint32_t id_at(struct json *j, const uint32_t *ids, size_t count, yajl_val index)
{
	int64_t i = integer(index);

	if (!YAJL_IS_INTEGER(index))
		return 0;
	if (i < 0 || (size_t)i >= count) {
		fail(j, "JSON: %lld is no place in its table", (long long)i);
		return 0;
	}
	return ids[i];
}

static uint32_t *new_ids(struct json *j, size_t count)
{
	uint32_t *ids = calloc(count + 1, sizeof(*ids));

	if (!ids && !j->err)
		j->err = -ENOMEM;
	return ids;
}

/* ---- meta, JVMs, quality */

static void read_meta(struct json *j, yajl_val root)
{
	yajl_val meta = get(root, "meta"), host = get(meta, "host"), quality = get(root, "quality");
	yajl_val hz = get(quality, "achieved_hz"), events = get(meta, "events");
	struct rec_meta *to = rec_meta(j->rec);
	char list[256] = "";

	for (size_t i = 0, len = 0; i < length(events) && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? "," : "",
					text(at(events, i)));
	*to = (struct rec_meta){
		.start_time_ns = integer(get(meta, "start_time_ns")),
		.end_time_ns = integer(get(meta, "end_time_ns")),
		.frequency_hz = (uint32_t)counter(get(quality, "frequency_hz")),
		.achieved_hz = YAJL_IS_NUMBER(hz) ? strtod(YAJL_GET_NUMBER(hz), NULL) : (double)NAN,
		.seen = counter(get(quality, "seen")),
		.target_cpu_ns = counter(get(quality, "target_cpu_ns")),
		.own_cpu_ns = counter(get(quality, "own_cpu_ns")),
		.own_rss_bytes = counter(get(quality, "own_rss_bytes")),
		.own_map_bytes = counter(get(quality, "own_map_bytes")),
		.bpf_ns = counter(get(quality, "bpf_ns")),
		.max_depth = (uint32_t)counter(get(meta, "max_depth")),
		.tool_version = string(j, get(meta, "tool_version")),
		.host_name = string(j, get(host, "name")),
		.kernel_release = string(j, get(host, "kernel_release")),
		.machine = string(j, get(host, "machine")),
		.clock = string(j, get(quality, "clock")),
		.events = *list ? rec_string(j->rec, list, strlen(list)) : 0,
		.cpus = (uint32_t)counter(get(host, "cpus")),
	};
}

static void read_jvms(struct json *j, yajl_val root)
{
	yajl_val jvms = get(root, "jvms");

	for (size_t i = 0; i < length(jvms); i++) {
		yajl_val from = at(jvms, i);
		struct rec_jvm jvm = {
			.pid = (pid_t)integer(get(from, "pid")),
			.container_pid = (pid_t)integer(get(from, "container_pid")),
			.major = (int)integer(get(from, "jvm_major")),
			.start_time_ns = counter(get(from, "start_time_ns")),
			.version = string(j, get(from, "jvm_version")),
			.gc_name = string(j, get(from, "gc_name")),
			.main_class = string(j, get(from, "main_class")),
			.arguments = string(j, get(from, "jvm_args")),
			.container_id = string(j, get(from, "container_id")),
			.pod_uid = string(j, get(from, "pod_uid")),
		};

		rec_jvm(j->rec, &jvm);
	}
}

static void read_group(struct json *j, yajl_val rows, enum rec_quality_group group)
{
	if (!YAJL_IS_OBJECT(rows))
		return;
	for (size_t i = 0; i < rows->u.object.len; i++)
		rec_quality_add(j->rec, group, rows->u.object.keys[i],
				counter(rows->u.object.values[i]));
}

static void read_quality(struct json *j, yajl_val root)
{
	yajl_val quality = get(root, "quality");

	rec_quality_add(j->rec, REC_QUALITY_COMPLETE, "", counter(get(quality, "complete")));
	read_group(j, get(quality, "truncated_by"), REC_QUALITY_TRUNCATED_BY);
	read_group(j, get(quality, "broken_by"), REC_QUALITY_BROKEN_BY);
	read_group(j, get(quality, "lost"), REC_QUALITY_LOST);
	read_group(j, get(quality, "info"), REC_QUALITY_INFO);
}

/* ---- frames and stacks */

enum {
	FRAME_KIND,
	FRAME_METHOD,
	FRAME_LINE,
	FRAME_BCI,
	FRAME_SIGNATURE,
	FRAME_FILE,
	FRAME_RAW,
	FRAME_MODULE,
	FRAME_OFFSET
};

static enum rec_frame_kind kind_of(struct json *j, const char *name)
{
	for (int kind = 0; kind < REC_FRAME_KIND_NR; kind++) {
		if (!strcmp(rec_kind_name((enum rec_frame_kind)kind), name))
			return (enum rec_frame_kind)kind;
	}
	fail(j, "JSON: a frame is of an unknown kind");
	return REC_FRAME_STUB;
}

/* "com.example.Foo.bar" of a Java method is class and name. */
static void name_method(struct json *j, struct rec_method *method, const char *name, bool is_java)
{
	const char *dot = is_java ? strrchr(name, '.') : NULL;

	if (dot) {
		method->class_name = rec_string(j->rec, name, (size_t)(dot - name));
		name = dot + 1;
	}
	method->name = *name ? rec_string(j->rec, name, strlen(name)) : 0;
}

static uint32_t read_frame(struct json *j, yajl_val from)
{
	struct rec_method method = {
		.signature = string_at(j, at(from, FRAME_SIGNATURE)),
		.file = string_at(j, at(from, FRAME_FILE)),
		.raw_class = string_at(j, at(from, FRAME_RAW)),
		.module = string_at(j, at(from, FRAME_MODULE)),
	};
	struct rec_frame frame = {
		.kind = kind_of(j, text(at(from, FRAME_KIND))),
		.line = (int32_t)integer(at(from, FRAME_LINE)),
		.bci = (int32_t)integer(at(from, FRAME_BCI)),
		.offset = counter(at(from, FRAME_OFFSET)),
	};

	name_method(j, &method, text_at(j, at(from, FRAME_METHOD)), rec_kind_is_java(frame.kind));
	/* Nothing at all is no method: the frame prints as unknown. */
	if (method.name || method.class_name || method.module)
		frame.method = rec_method(j->rec, &method);
	return rec_frame(j->rec, &frame);
}

static void read_frames(struct json *j, yajl_val root)
{
	yajl_val frames = get(root, "frames");

	j->frame_count = length(frames);
	j->frames = new_ids(j, j->frame_count);
	for (size_t i = 0; i < j->frame_count && !j->err; i++)
		j->frames[i] = read_frame(j, at(frames, i));
}

static enum rec_stack_state state_of(const char *name)
{
	if (!strcmp(name, "truncated"))
		return REC_STACK_TRUNCATED;
	return strcmp(name, "broken") != 0 ? REC_STACK_COMPLETE : REC_STACK_BROKEN;
}

static uint32_t read_stack(struct json *j, yajl_val from, yajl_val state)
{
	size_t count = length(from);
	uint32_t *frames = new_ids(j, count);
	uint32_t id = 0;

	for (size_t i = 0; i < count && frames; i++)
		frames[i] = id_at(j, j->frames, j->frame_count, at(from, i));
	if (frames)
		id = rec_stack(j->rec, frames, count, state_of(text(state)));
	free(frames);
	return id;
}

static void read_stacks(struct json *j, yajl_val root)
{
	yajl_val stacks = get(root, "stacks"), states = get(root, "stack_states");

	j->stack_count = length(stacks);
	j->stacks = new_ids(j, j->stack_count);
	for (size_t i = 0; i < j->stack_count && !j->err; i++)
		j->stacks[i] = read_stack(j, at(stacks, i), at(states, i));
}

/* ---- threads and profiles */

static uint32_t jvm_at(struct json *j, yajl_val index)
{
	int64_t jvm = integer(index);

	if (!YAJL_IS_INTEGER(index))
		return 0;
	if (jvm < 0 || jvm >= rec_jvm_count(j->rec))
		fail(j, "JSON: %lld is no place in the table of JVMs", (long long)jvm);
	return (uint32_t)(jvm + 1);
}

static void read_threads(struct json *j, yajl_val root)
{
	yajl_val threads = get(root, "threads");

	j->thread_count = length(threads);
	j->threads = new_ids(j, j->thread_count);
	for (size_t i = 0; i < j->thread_count && !j->err; i++) {
		yajl_val from = at(threads, i), states = get(from, "states");
		uint32_t jvm = jvm_at(j, get(from, "jvm"));
		struct rec_thread *thread;

		j->threads[i] = rec_thread(j->rec, jvm, (pid_t)integer(get(from, "tid")));
		thread = rec_thread_get(j->rec, j->threads[i]);
		if (!thread)
			return;
		thread->name = string(j, get(from, "name"));
		thread->group = string(j, get(from, "group"));
		thread->cpu_ns = counter(get(from, "cpu_ns"));
		for (int state = 0; state < REC_STATE_NR; state++) {
			const char *name = rec_state_name((enum rec_thread_state)state);

			thread->state_ns[state] = counter(get(states, name));
		}
	}
}

static int metric_of(const char *name)
{
	for (int metric = 0; metric < REC_METRIC_NR; metric++) {
		if (!strcmp(rec_metric_info((enum rec_metric)metric)->name, name))
			return metric;
	}
	return -1;
}

static void read_profile(struct json *j, yajl_val from)
{
	yajl_val samples = get(from, "samples");
	struct rec_key key = { .jvm = jvm_at(j, get(from, "jvm")) };
	int metric = metric_of(text(get(from, "metric")));

	if (metric < 0)
		return;
	key.metric = (enum rec_metric)metric;
	for (size_t i = 0; i < length(samples) && !j->err; i++) {
		yajl_val row = at(samples, i);

		key.stack = id_at(j, j->stacks, j->stack_count, at(row, 0));
		key.thread = id_at(j, j->threads, j->thread_count, at(row, 1));
		key.label = string_at(j, at(row, 2));
		rec_add(j->rec, &key, integer(at(row, 3)), integer(at(row, 4)));
	}
}

static void read_profiles(struct json *j, yajl_val root)
{
	yajl_val profiles = get(root, "profiles");

	for (size_t i = 0; i < length(profiles) && !j->err; i++)
		read_profile(j, at(profiles, i));
}

/* ---- the whole */

/* yajl frees its tree by recursion: what is nested without end must not become one. */
static bool is_too_deep(const char *json, size_t len)
{
	bool in_string = false;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (in_string) {
			i += json[i] == '\\';
			in_string = i < len && json[i] != '"';
		} else if (json[i] == '"') {
			in_string = true;
		} else if (json[i] == '[' || json[i] == '{') {
			if (++depth > DEPTH_MAX)
				return true;
		} else if (json[i] == ']' || json[i] == '}') {
			depth--;
		}
	}
	return false;
}

static void read_root(struct json *j, yajl_val root)
{
	const char *schema = text(get(root, "schema"));

	if (strcmp(schema, "jvmscope/1") != 0) {
		fail(j,
		     "JSON that is no recording of jvmscope (its \"schema\" is not \"jvmscope/1\")");
		return;
	}
	if (!get(root, "profiles")) {
		fail(j, "JSON of jvmscope without profiles: no recording");
		return;
	}
	j->strings = get(root, "strings");
	read_meta(j, root);
	read_jvms(j, root);
	read_quality(j, root);
	read_frames(j, root);
	read_stacks(j, root);
	read_threads(j, root);
	read_profiles(j, root);
}

/* yajl's message has lines; the first one says what is wrong. */
static void say_syntax(struct json *j, const char *message)
{
	fail(j, "JSON: %.*s", (int)strcspn(message, "\n"), message);
}

int import_json(const char *json, size_t len, struct recording *rec, char *why, size_t size)
{
	struct json j = { .rec = rec };
	char message[256] = "";
	char *copy;
	yajl_val root;

	j.why = why;
	j.why_size = size;
	if (is_too_deep(json, len) || memchr(json, 0, len)) {
		fail(&j, "JSON that is no recording of jvmscope");
		return j.err;
	}
	copy = strndup(json, len);
	if (!copy)
		return -ENOMEM;
	root = yajl_tree_parse(copy, message, sizeof(message));
	free(copy);
	if (root)
		read_root(&j, root);
	else
		say_syntax(&j, *message ? message : "not complete");
	yajl_tree_free(root);
	free(j.frames);
	free(j.stacks);
	free(j.threads);
	return j.err ? j.err : rec_error(rec);
}
