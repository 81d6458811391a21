/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads recordings and prints, as one JSON object each, what can be said of them in totals: the
 * numbers that tests compare with those of the JDK's own reader, and that bench measures.
 *
 * usage: jfr_totals [--walk] FILE...      --walk: only counts events by type
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "exporters/json_stream.h"
#include "jfr/jfr_read.h"

/* ---- sums by name, over all chunks */

struct sum {
	uint32_t name;
	int64_t count;
	int64_t value;
};

struct sums {
	struct intern names;
	struct sum *rows; /* owned; [name - 1] */
	size_t capacity;
};

static void die(const char *what)
{
	fprintf(stderr, "jfr_totals: %s\n", what);
	exit(1);
}

static struct sum *row_of(struct sums *sums, const char *name)
{
	uint32_t id = intern_add(&sums->names, name, strlen(name));

	if (!id)
		die("out of memory");
	if (id > sums->capacity) {
		size_t capacity = 2 * (size_t)id + 64;

		sums->rows = reallocarray(sums->rows, capacity, sizeof(*sums->rows));
		if (!sums->rows)
			die("out of memory");
		memset(sums->rows + sums->capacity, 0,
		       (capacity - sums->capacity) * sizeof(*sums->rows));
		sums->capacity = capacity;
	}
	sums->rows[id - 1].name = id;
	return &sums->rows[id - 1];
}

static void add(struct sums *sums, const char *name, int64_t count, int64_t value)
{
	struct sum *row = row_of(sums, name);

	row->count += count;
	row->value += value;
}

/* ---- sums by a constant's id, over one chunk */

struct by_id {
	struct map64 places; /* id to place + 1 */
	struct id_row {
		int64_t id;
		int64_t count;
		int64_t value;
	} * rows; /* owned */
	size_t count, capacity;
};

static void add_id(struct by_id *by, int64_t id, int64_t value)
{
	uint32_t place = 0;

	if (!map64_get(&by->places, (uint64_t)id, &place)) {
		if (by->count == by->capacity) {
			by->capacity = 2 * by->capacity + 64;
			by->rows = reallocarray(by->rows, by->capacity, sizeof(*by->rows));
			if (!by->rows)
				die("out of memory");
		}
		place = (uint32_t)by->count++;
		by->rows[place] = (struct id_row){ .id = id };
		if (map64_set(&by->places, (uint64_t)id, place))
			die("out of memory");
	}
	by->rows[place].count++;
	by->rows[place].value += value;
}

static void clear_ids(struct by_id *by)
{
	map64_free(&by->places);
	by->count = 0;
}

/* ---- what is collected */

enum group {
	BY_TOP_METHOD,
	BY_THREAD,
	NATIVE_TOP_METHOD,
	ALLOC_WEIGHT,
	ALLOC_TLAB,
	MONITOR_CLASS,
	THROWN_CLASS,
	STACKS,
	THREADS,
	GROUP_NR,
};

struct totals {
	struct by_id ids[GROUP_NR];
	struct sums sums[GROUP_NR];
	struct sums types, strings, virtual_threads;
	uint64_t chunks;
	int64_t duration_ns;
	int64_t first_ns, last_ns;
	int64_t gc_count, gc_sum_ns, gc_longest_ns, gc_pauses, gc_pause_ns, heap_used_max;
	int64_t enter_count, enter_ns, enter_max_ns, wait_ns, park_ns;
	int64_t active_max, peak_max;
	int64_t load_count;
	double load_sum, load_max;
	int64_t order_count, order_amount;
	int64_t with_stack, frames, truncated, max_depth;
	struct strbuf text, other;
};

/* ---- events */

static void on_any(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;
	int64_t at = jfr_ns(e, 0);

	if (jfr_has(e, 0) && (!t->first_ns || at < t->first_ns))
		t->first_ns = at;
	if (jfr_has(e, 0) && at > t->last_ns)
		t->last_ns = at;
	if (jfr_number(e, 1))
		add_id(&t->ids[STACKS], jfr_number(e, 1), 0);
	if (jfr_number(e, 2))
		add_id(&t->ids[THREADS], jfr_number(e, 2), 0);
}

static void on_sample(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;

	add_id(&t->ids[BY_THREAD], jfr_number(e, 0), 0);
	add_id(&t->ids[BY_TOP_METHOD], jfr_number(e, 1), 0);
}

static void on_native_sample(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;

	add_id(&t->ids[NATIVE_TOP_METHOD], jfr_number(e, 1), 0);
}

static void max_to(int64_t *to, int64_t value)
{
	if (value > *to)
		*to = value;
}

static void on_gc(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;

	t->gc_count++;
	t->gc_sum_ns += jfr_ns(e, 0);
	max_to(&t->gc_longest_ns, jfr_ns(e, 1));
}

static void on_pause(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;

	t->gc_pauses++;
	t->gc_pause_ns += jfr_ns(e, 0);
}

static void on_heap(void *ctx, const struct jfr_item *e)
{
	max_to(&((struct totals *)ctx)->heap_used_max, jfr_number(e, 0));
}

static void on_alloc(void *ctx, const struct jfr_item *e)
{
	add_id(&((struct totals *)ctx)->ids[ALLOC_WEIGHT], jfr_number(e, 0), jfr_number(e, 1));
}

static void on_tlab(void *ctx, const struct jfr_item *e)
{
	add_id(&((struct totals *)ctx)->ids[ALLOC_TLAB], jfr_number(e, 0), jfr_number(e, 1));
}

static void on_enter(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;

	t->enter_count++;
	t->enter_ns += jfr_ns(e, 0);
	max_to(&t->enter_max_ns, jfr_ns(e, 0));
	add_id(&t->ids[MONITOR_CLASS], jfr_number(e, 1), 0);
}

static void on_wait(void *ctx, const struct jfr_item *e)
{
	((struct totals *)ctx)->wait_ns += jfr_ns(e, 0);
}

static void on_park(void *ctx, const struct jfr_item *e)
{
	((struct totals *)ctx)->park_ns += jfr_ns(e, 0);
}

static void on_threads(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;

	max_to(&t->active_max, jfr_number(e, 0));
	max_to(&t->peak_max, jfr_number(e, 1));
}

static void on_load(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;
	double load = jfr_decimal(e, 0);

	t->load_count++;
	t->load_sum += load;
	if (load > t->load_max)
		t->load_max = load;
}

static void on_thrown(void *ctx, const struct jfr_item *e)
{
	add_id(&((struct totals *)ctx)->ids[THROWN_CLASS], jfr_number(e, 0), 0);
}

/* Late: its strings may be pooled. */
static void on_order(void *ctx, const struct jfr_item *e)
{
	struct totals *t = ctx;

	t->order_count++;
	t->order_amount += jfr_number(e, 0);
	add(&t->strings, jfr_text(e, 1, &t->text) ? strbuf_text(&t->text) : "null", 1, 0);
	strbuf_reset(&t->other);
	strbuf_puts(&t->other, "note:");
	strbuf_puts(&t->other, jfr_text(e, 2, &t->text) ? strbuf_text(&t->text) : "null");
	add(&t->strings, strbuf_text(&t->other), 1, 0);
}

enum {
	WANT_STACK,
	WANT_FRAME,
	WANT_METHOD,
	WANT_CLASS,
	WANT_THREAD,
};

static const struct jfr_want wants[] = {
	[WANT_STACK] = { "jdk.types.StackTrace", { "truncated", "frames" } },
	[WANT_FRAME] = { "jdk.types.StackFrame", { "method" } },
	[WANT_METHOD] = { "jdk.types.Method", { "type", "name", "descriptor" } },
	[WANT_CLASS] = { "java.lang.Class", { "name" } },
	[WANT_THREAD] = { "java.lang.Thread", { "osName", "javaName", "virtual" } },
	{ JFR_ANY_EVENT, { "startTime", "stackTrace", "eventThread" }, on_any },
	{ "jdk.ExecutionSample", { "sampledThread", "stackTrace" }, on_sample },
	{ "jdk.NativeMethodSample", { "sampledThread", "stackTrace" }, on_native_sample },
	{ "jdk.GarbageCollection", { "sumOfPauses", "longestPause" }, on_gc },
	{ "jdk.GCPhasePause", { "duration" }, on_pause },
	{ "jdk.GCHeapSummary", { "heapUsed" }, on_heap },
	{ "jdk.ObjectAllocationSample", { "objectClass", "weight" }, on_alloc },
	{ "jdk.ObjectAllocationInNewTLAB", { "objectClass", "tlabSize" }, on_tlab },
	{ "jdk.ObjectAllocationOutsideTLAB", { "objectClass", "allocationSize" }, on_tlab },
	{ "jdk.JavaMonitorEnter", { "duration", "monitorClass" }, on_enter },
	{ "jdk.JavaMonitorWait", { "duration" }, on_wait },
	{ "jdk.ThreadPark", { "duration" }, on_park },
	{ "jdk.JavaThreadStatistics", { "activeCount", "peakCount" }, on_threads },
	{ "jdk.CPULoad", { "jvmUser" }, on_load },
	{ "jdk.JavaExceptionThrow", { "thrownClass" }, on_thrown },
	{ "app.Order", { "amount", "customer", "note" }, on_order, true },
};

/* ---- ids to names, at the end of a chunk */

static const char *dots(struct strbuf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		if (text->text[i] == '/')
			text->text[i] = '.';
	}
	return strbuf_text(text);
}

static const char *class_text(struct totals *t, const struct jfr_chunk *chunk, int64_t id)
{
	struct jfr_item item;

	if (!jfr_constant(chunk, WANT_CLASS, id, &item))
		return "(null)";
	return jfr_text(&item, 0, &t->text) ? dots(&t->text) : "null";
}

static const char *method_text(struct totals *t, const struct jfr_chunk *chunk, int64_t id)
{
	struct jfr_item stack, frame, method;
	struct jfr_elements frames;

	if (!jfr_constant(chunk, WANT_STACK, id, &stack))
		return "(none)";
	frames = jfr_elements(&stack, 1, WANT_FRAME);
	if (!jfr_next(&frames, &frame))
		return "(none)";
	if (!jfr_constant(chunk, WANT_METHOD, jfr_number(&frame, 0), &method))
		return "(null)";
	strbuf_reset(&t->other);
	strbuf_puts(&t->other, class_text(t, chunk, jfr_number(&method, 0)));
	strbuf_puts(&t->other, ".");
	for (unsigned int field = 1; field < 3; field++) {
		jfr_text(&method, field, &t->text);
		strbuf_add(&t->other, strbuf_text(&t->text), t->text.len);
	}
	return strbuf_text(&t->other);
}

static const char *thread_text(struct totals *t, const struct jfr_chunk *chunk, int64_t id)
{
	struct jfr_item thread;

	if (!jfr_constant(chunk, WANT_THREAD, id, &thread))
		return "(null)";
	if (!jfr_text(&thread, 1, &t->text))
		jfr_text(&thread, 0, &t->text);
	return strbuf_text(&t->text);
}

static const char *(*const names[GROUP_NR])(struct totals *, const struct jfr_chunk *, int64_t) = {
	[BY_TOP_METHOD] = method_text, [BY_THREAD] = thread_text, [NATIVE_TOP_METHOD] = method_text,
	[ALLOC_WEIGHT] = class_text,   [ALLOC_TLAB] = class_text, [MONITOR_CLASS] = class_text,
	[THROWN_CLASS] = class_text,
};

static void count_stacks(struct totals *t, const struct jfr_chunk *chunk)
{
	const struct by_id *by = &t->ids[STACKS];

	for (size_t i = 0; i < by->count; i++) {
		struct jfr_item stack;
		int64_t depth;

		if (!jfr_constant(chunk, WANT_STACK, by->rows[i].id, &stack))
			continue;
		depth = stack.values[1].array.count;
		t->with_stack += by->rows[i].count;
		t->frames += by->rows[i].count * depth;
		t->truncated += by->rows[i].count * (jfr_number(&stack, 0) != 0);
		max_to(&t->max_depth, depth);
	}
}

static void name_threads(struct totals *t, const struct jfr_chunk *chunk)
{
	const struct by_id *by = &t->ids[THREADS];

	for (size_t i = 0; i < by->count; i++) {
		struct jfr_item thread;
		const char *name = thread_text(t, chunk, by->rows[i].id);

		if (!jfr_constant(chunk, WANT_THREAD, by->rows[i].id, &thread))
			continue;
		add(jfr_number(&thread, 2) ? &t->virtual_threads : &t->sums[THREADS], name, 1, 0);
	}
}

static void on_chunk_end(void *ctx, const struct jfr_chunk *chunk)
{
	struct totals *t = ctx;
	const char *name;
	uint64_t count, bytes;

	t->chunks++;
	t->duration_ns += chunk->duration_ns;
	for (uint32_t n = 0; jfr_chunk_count(chunk, n, &name, &count, &bytes); n++) {
		if (count)
			add(&t->types, name, (int64_t)count, (int64_t)bytes);
	}
	count_stacks(t, chunk);
	name_threads(t, chunk);
	for (int group = 0; group < GROUP_NR; group++) {
		struct by_id *by = &t->ids[group];

		for (size_t i = 0; names[group] && i < by->count; i++)
			add(&t->sums[group], names[group](t, chunk, by->rows[i].id),
			    by->rows[i].count, by->rows[i].value);
		clear_ids(by);
	}
}

/* ---- output */

enum which { COUNTS, VALUES, BOTH };

static void write_sums(struct json_stream *json, const char *key, const struct sums *sums,
		       enum which which)
{
	json_key(json, key);
	json_map(json);
	for (uint32_t id = 1; id <= sums->names.count; id++) {
		json_key(json, intern_get(&sums->names, id, NULL));
		if (which == BOTH)
			json_array(json);
		if (which != VALUES)
			json_signed(json, sums->rows[id - 1].count);
		if (which != COUNTS)
			json_signed(json, sums->rows[id - 1].value);
		if (which == BOTH)
			json_array_end(json);
	}
	json_map_end(json);
}

static void write_numbers(struct json_stream *json, const struct totals *t)
{
	const struct {
		const char *key;
		int64_t value;
	} numbers[] = {
		{ "chunks", (int64_t)t->chunks },
		{ "duration_ns", t->duration_ns },
		{ "first_event_ns", t->first_ns },
		{ "last_event_ns", t->last_ns },
		{ "gc_count", t->gc_count },
		{ "gc_sum_of_pauses_ns", t->gc_sum_ns },
		{ "gc_longest_pause_ns", t->gc_longest_ns },
		{ "gc_phase_pauses", t->gc_pauses },
		{ "gc_phase_pause_total_ns", t->gc_pause_ns },
		{ "gc_heap_used_max", t->heap_used_max },
		{ "monitor_enter_count", t->enter_count },
		{ "monitor_enter_total_ns", t->enter_ns },
		{ "monitor_enter_max_ns", t->enter_max_ns },
		{ "monitor_wait_total_ns", t->wait_ns },
		{ "park_total_ns", t->park_ns },
		{ "threads_active_max", t->active_max },
		{ "threads_peak_max", t->peak_max },
		{ "cpu_load_samples", t->load_count },
		{ "cpu_load_jvm_user_max_ppm", (int64_t)(t->load_max * 1e6) },
		{ "cpu_load_jvm_user_sum_ppm", (int64_t)(t->load_sum * 1e6) },
		{ "app_order_count", t->order_count },
		{ "app_order_amount_sum", t->order_amount },
		{ "stacks_events_with_stack", t->with_stack },
		{ "stacks_frames_total", t->frames },
		{ "stacks_truncated", t->truncated },
		{ "stacks_max_depth", t->max_depth },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_key_signed(json, numbers[i].key, numbers[i].value);
}

static int write_totals(const struct totals *t, const struct jfr_result *result)
{
	struct json_stream json;

	if (json_stream_open(&json, stdout))
		die("out of memory");
	json_map(&json);
	json_key_unsigned(&json, "events_all", result->events);
	json_key_unsigned(&json, "events_damaged", result->events_damaged);
	json_key_unsigned(&json, "bytes_lost", result->bytes_lost);
	json_key_unsigned(&json, "unfinished", result->unfinished);
	write_sums(&json, "types", &t->types, BOTH);
	write_sums(&json, "execution_samples_by_top_method", &t->sums[BY_TOP_METHOD], COUNTS);
	write_sums(&json, "execution_samples_by_thread", &t->sums[BY_THREAD], COUNTS);
	write_sums(&json, "native_samples_by_top_method", &t->sums[NATIVE_TOP_METHOD], COUNTS);
	write_sums(&json, "alloc_sample_weight_by_class", &t->sums[ALLOC_WEIGHT], VALUES);
	write_sums(&json, "alloc_tlab_bytes_by_class", &t->sums[ALLOC_TLAB], VALUES);
	write_sums(&json, "monitor_enter_by_class", &t->sums[MONITOR_CLASS], COUNTS);
	write_sums(&json, "exceptions_by_class", &t->sums[THROWN_CLASS], COUNTS);
	write_sums(&json, "app_order_strings", &t->strings, COUNTS);
	write_sums(&json, "threads", &t->sums[THREADS], COUNTS);
	write_sums(&json, "virtual_threads", &t->virtual_threads, COUNTS);
	write_numbers(&json, t);
	json_map_end(&json);
	return json_stream_close(&json);
}

static void on_notice(void *ctx, const char *text)
{
	(void)ctx;
	fprintf(stderr, "jfr_totals: %s\n", text);
}

static void free_totals(struct totals *t)
{
	struct sums *all[GROUP_NR + 3] = { &t->types, &t->strings, &t->virtual_threads };

	for (int group = 0; group < GROUP_NR; group++) {
		all[3 + group] = &t->sums[group];
		map64_free(&t->ids[group].places);
		free(t->ids[group].rows);
	}
	for (int i = 0; i < GROUP_NR + 3; i++) {
		intern_free(&all[i]->names);
		free(all[i]->rows);
	}
	strbuf_free(&t->text);
	strbuf_free(&t->other);
}

static int read_one(const char *path, bool walk)
{
	struct jfr_visitor visitor = {
		.wants = wants,
		.want_count = walk ? 0 : sizeof(wants) / sizeof(wants[0]),
		.on_chunk_end = on_chunk_end,
		.on_notice = on_notice,
	};
	struct totals totals = { .heap_used_max = -1, .active_max = -1, .peak_max = -1 };
	struct jfr_result result;
	struct jfr_input in;
	int err = jfr_input_open(path, &in);

	if (err) {
		fprintf(stderr, "jfr_totals: %s: %s\n", path, strerror(-err));
		return 1;
	}
	if (walk)
		visitor.on_chunk_end = NULL;
	err = jfr_each_event(&in, &visitor, &totals, &result);
	if (err)
		fprintf(stderr, "jfr_totals: %s: %s\n", path,
			result.refusal ? result.refusal : strerror(-err));
	if (walk)
		printf("%" PRIu64 " events\n", result.events);
	else if (write_totals(&totals, &result))
		err = 1;
	free_totals(&totals);
	jfr_input_close(&in);
	return err != 0;
}

int main(int argc, char **argv)
{
	bool walk = argc > 1 && !strcmp(argv[1], "--walk");
	int failed = 0;

	for (int i = 1 + walk; i < argc; i++)
		failed |= read_one(argv[i], walk);
	return failed;
}
