/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/import_impl.h"
#include "import/import_tree.h"

/* docs/json-schema.json has the format. Keys that are not known are not looked at. */

#define DEPTH_MAX 64 /* of arrays and objects; ours have 5 */

/* ---- meta, JVMs, quality */

static void read_meta(struct tree *t, yajl_val root)
{
	yajl_val meta = tree_get(root, "meta"), host = tree_get(meta, "host"),
		 quality = tree_get(root, "quality");
	yajl_val hz = tree_get(quality, "achieved_hz"), events = tree_get(meta, "events");
	struct rec_meta *to = rec_meta(t->rec);
	char list[256] = "";

	for (size_t i = 0, len = 0; i < tree_length(events) && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? "," : "",
					tree_text(tree_at(events, i)));
	*to = (struct rec_meta){
		.start_time_ns = tree_time(tree_get(meta, "start_time_ns")),
		.end_time_ns = tree_time(tree_get(meta, "end_time_ns")),
		.frequency_hz = (uint32_t)tree_counter(tree_get(quality, "frequency_hz")),
		.achieved_hz = hz ? tree_decimal(hz) : (double)NAN,
		.seen = tree_counter(tree_get(quality, "seen")),
		.target_cpu_ns = tree_counter(tree_get(quality, "target_cpu_ns")),
		.own_cpu_ns = tree_counter(tree_get(quality, "own_cpu_ns")),
		.own_rss_bytes = tree_counter(tree_get(quality, "own_rss_bytes")),
		.own_map_bytes = tree_counter(tree_get(quality, "own_map_bytes")),
		.bpf_ns = tree_counter(tree_get(quality, "bpf_ns")),
		.max_depth = (uint32_t)tree_counter(tree_get(meta, "max_depth")),
		.tool_version = tree_string(t, tree_get(meta, "tool_version")),
		.host_name = tree_string(t, tree_get(host, "name")),
		.kernel_release = tree_string(t, tree_get(host, "kernel_release")),
		.machine = tree_string(t, tree_get(host, "machine")),
		.clock = tree_string(t, tree_get(quality, "clock")),
		.events = *list ? rec_string(t->rec, list, strlen(list)) : 0,
		.cpus = (uint32_t)tree_counter(tree_get(host, "cpus")),
	};
}

static void read_jvms(struct tree *t, yajl_val root)
{
	yajl_val jvms = tree_get(root, "jvms");

	for (size_t i = 0; i < tree_length(jvms); i++) {
		yajl_val from = tree_at(jvms, i);
		struct rec_jvm jvm = {
			.pid = (pid_t)tree_integer(tree_get(from, "pid")),
			.container_pid = (pid_t)tree_integer(tree_get(from, "container_pid")),
			.major = (int)tree_integer(tree_get(from, "jvm_major")),
			.start_time_ns = tree_counter(tree_get(from, "start_time_ns")),
			.version = tree_string(t, tree_get(from, "jvm_version")),
			.gc_name = tree_string(t, tree_get(from, "gc_name")),
			.main_class = tree_string(t, tree_get(from, "main_class")),
			.arguments = tree_string(t, tree_get(from, "jvm_args")),
			.container_id = tree_string(t, tree_get(from, "container_id")),
			.pod_uid = tree_string(t, tree_get(from, "pod_uid")),
		};

		rec_jvm(t->rec, &jvm);
	}
}

static void read_group(struct tree *t, yajl_val rows, enum rec_quality_group group)
{
	if (!YAJL_IS_OBJECT(rows))
		return;
	for (size_t i = 0; i < rows->u.object.len; i++)
		rec_quality_add(t->rec, group, rows->u.object.keys[i],
				tree_counter(rows->u.object.values[i]));
}

static void read_quality(struct tree *t, yajl_val root)
{
	yajl_val quality = tree_get(root, "quality");

	rec_quality_add(t->rec, REC_QUALITY_COMPLETE, "",
			tree_counter(tree_get(quality, "complete")));
	read_group(t, tree_get(quality, "truncated_by"), REC_QUALITY_TRUNCATED_BY);
	read_group(t, tree_get(quality, "broken_by"), REC_QUALITY_BROKEN_BY);
	read_group(t, tree_get(quality, "lost"), REC_QUALITY_LOST);
	read_group(t, tree_get(quality, "info"), REC_QUALITY_INFO);
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

static enum rec_frame_kind kind_of(struct tree *t, const char *name)
{
	for (int kind = 0; kind < REC_FRAME_KIND_NR; kind++) {
		if (!strcmp(rec_kind_name((enum rec_frame_kind)kind), name))
			return (enum rec_frame_kind)kind;
	}
	tree_fail(t, "JSON: a frame is of an unknown kind");
	return REC_FRAME_STUB;
}

/* "com.example.Foo.bar" of a Java method is class and name. */
static void name_method(struct tree *t, struct rec_method *method, const char *name, bool is_java)
{
	const char *dot = is_java ? strrchr(name, '.') : NULL;

	if (dot) {
		method->class_name = rec_string(t->rec, name, (size_t)(dot - name));
		name = dot + 1;
	}
	method->name = *name ? rec_string(t->rec, name, strlen(name)) : 0;
}

static uint32_t read_frame(struct tree *t, yajl_val from)
{
	struct rec_method method = {
		.signature = tree_string_at(t, tree_at(from, FRAME_SIGNATURE)),
		.file = tree_string_at(t, tree_at(from, FRAME_FILE)),
		.raw_class = tree_string_at(t, tree_at(from, FRAME_RAW)),
		.module = tree_string_at(t, tree_at(from, FRAME_MODULE)),
	};
	struct rec_frame frame = {
		.kind = kind_of(t, tree_text(tree_at(from, FRAME_KIND))),
		.line = (int32_t)tree_integer(tree_at(from, FRAME_LINE)),
		.bci = (int32_t)tree_integer(tree_at(from, FRAME_BCI)),
		.offset = tree_counter(tree_at(from, FRAME_OFFSET)),
	};

	name_method(t, &method, tree_text_at(t, tree_at(from, FRAME_METHOD)),
		    rec_kind_is_java(frame.kind));
	/* Nothing at all is no method: the frame prints as unknown. */
	if (method.name || method.class_name || method.module)
		frame.method = rec_method(t->rec, &method);
	return rec_frame(t->rec, &frame);
}

static void read_frames(struct tree *t, yajl_val root)
{
	yajl_val frames = tree_get(root, "frames");

	t->frame_count = tree_length(frames);
	t->frames = tree_new_ids(t, t->frame_count);
	for (size_t i = 0; i < t->frame_count && !t->err; i++)
		t->frames[i] = read_frame(t, tree_at(frames, i));
}

static enum rec_stack_state state_of(const char *name)
{
	if (!strcmp(name, "truncated"))
		return REC_STACK_TRUNCATED;
	return strcmp(name, "broken") != 0 ? REC_STACK_COMPLETE : REC_STACK_BROKEN;
}

static uint32_t read_stack(struct tree *t, yajl_val from, yajl_val state)
{
	size_t count = tree_length(from);
	uint32_t *frames = tree_new_ids(t, count);
	uint32_t id = 0;

	for (size_t i = 0; i < count && frames; i++)
		frames[i] = tree_id_at(t, t->frames, t->frame_count, tree_at(from, i));
	if (frames)
		id = rec_stack(t->rec, frames, count, state_of(tree_text(state)));
	free(frames);
	return id;
}

static void read_stacks(struct tree *t, yajl_val root)
{
	yajl_val stacks = tree_get(root, "stacks"), states = tree_get(root, "stack_states");

	t->stack_count = tree_length(stacks);
	t->stacks = tree_new_ids(t, t->stack_count);
	for (size_t i = 0; i < t->stack_count && !t->err; i++)
		t->stacks[i] = read_stack(t, tree_at(stacks, i), tree_at(states, i));
}

/* ---- threads and profiles */

static void read_threads(struct tree *t, yajl_val root)
{
	yajl_val threads = tree_get(root, "threads");

	t->thread_count = tree_length(threads);
	t->threads = tree_new_ids(t, t->thread_count);
	for (size_t i = 0; i < t->thread_count && !t->err; i++) {
		yajl_val from = tree_at(threads, i), states = tree_get(from, "states");
		uint32_t jvm = tree_jvm_at(t, tree_get(from, "jvm"));
		struct rec_thread *thread;

		t->threads[i] = rec_thread(t->rec, jvm, (pid_t)tree_integer(tree_get(from, "tid")));
		thread = rec_thread_get(t->rec, t->threads[i]);
		if (!thread)
			return;
		thread->name = tree_string(t, tree_get(from, "name"));
		thread->group = tree_string(t, tree_get(from, "group"));
		thread->cpu_ns = tree_counter(tree_get(from, "cpu_ns"));
		for (int state = 0; state < REC_STATE_NR; state++) {
			const char *name = rec_state_name((enum rec_thread_state)state);

			thread->state_ns[state] = tree_counter(tree_get(states, name));
		}
	}
}

static void read_profile(struct tree *t, yajl_val from)
{
	yajl_val samples = tree_get(from, "samples");
	struct rec_key key = { .jvm = tree_jvm_at(t, tree_get(from, "jvm")) };
	int metric = rec_metric_find(tree_text(tree_get(from, "metric")));

	if (metric < 0)
		return;
	key.metric = (enum rec_metric)metric;
	for (size_t i = 0; i < tree_length(samples) && !t->err; i++) {
		yajl_val row = tree_at(samples, i);

		key.stack = tree_id_at(t, t->stacks, t->stack_count, tree_at(row, 0));
		key.thread = tree_id_at(t, t->threads, t->thread_count, tree_at(row, 1));
		key.label = tree_string_at(t, tree_at(row, 2));
		rec_add(t->rec, &key, tree_integer(tree_at(row, 3)), tree_integer(tree_at(row, 4)));
	}
}

static void read_profiles(struct tree *t, yajl_val root)
{
	yajl_val profiles = tree_get(root, "profiles");

	for (size_t i = 0; i < tree_length(profiles) && !t->err; i++)
		read_profile(t, tree_at(profiles, i));
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

/* Strings of the file in its order, whichever part comes to them first: it is written again so. */
static void keep_order(struct tree *t)
{
	for (size_t i = 0; i < tree_length(t->strings); i++) {
		const char *text = tree_text(tree_at(t->strings, i));

		rec_string(t->rec, text, strlen(text));
	}
}

static void read_root(struct tree *t, yajl_val root)
{
	const char *schema = tree_text(tree_get(root, "schema"));

	if (strcmp(schema, "jvmscope/1") != 0) {
		tree_fail(
			t,
			"JSON that is no recording of jvmscope (its \"schema\" is not \"jvmscope/1\")");
		return;
	}
	if (!tree_get(root, "profiles")) {
		tree_fail(t, "JSON of jvmscope without profiles: no recording");
		return;
	}
	t->strings = tree_get(root, "strings");
	keep_order(t);
	read_meta(t, root);
	read_jvms(t, root);
	import_json_settings(t, tree_get(root, "settings"));
	read_quality(t, root);
	read_frames(t, root);
	read_stacks(t, root);
	read_threads(t, root);
	read_profiles(t, root);
	import_json_native(t, tree_get(root, "native"));
	import_json_ledgers(t, tree_get(root, "native"));
	import_json_heap(t, tree_get(root, "heap"));
	import_json_budget(t, tree_get(root, "budget"));
	import_json_timeline(t, tree_get(root, "timeline"));
	import_json_gc(t, tree_get(root, "gc"));
	import_json_runtime(t, root);
}

/* yajl's message has lines; the first one says what is wrong. */
static void say_syntax(struct tree *t, const char *message)
{
	tree_fail(t, "JSON: %.*s", (int)strcspn(message, "\n"), message);
}

int import_json(const char *json, size_t len, struct recording *rec, char *why, size_t size)
{
	struct tree t = { .rec = rec };
	char message[256] = "";
	char *copy;
	yajl_val root;

	t.why = why;
	t.why_size = size;
	if (is_too_deep(json, len) || memchr(json, 0, len)) {
		tree_fail(&t, "JSON that is no recording of jvmscope");
		return t.err;
	}
	copy = strndup(json, len);
	if (!copy)
		return -ENOMEM;
	root = yajl_tree_parse(copy, message, sizeof(message));
	free(copy);
	if (root)
		read_root(&t, root);
	else
		say_syntax(&t, *message ? message : "not complete");
	yajl_tree_free(root);
	free(t.frames);
	free(t.stacks);
	free(t.threads);
	return t.err ? t.err : rec_error(rec);
}
