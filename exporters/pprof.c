/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/text.h"
#include "exporters/pprof_stream.h"
#include "model/native.h"

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Label Label;

/*
 * Ids of the file are those of the recording and one more, since 0 is no id there and the frame 0
 * is "[unknown]". Code without a symbol has no method in the recording: its frame stands for one,
 * behind the others.
 *
 * Strings are numbered as they come and written behind what refers to them.
 */
struct document {
	struct pprof_stream stream;
	const struct recording *rec;
	struct intern strings; /* id + 1 is the place in the file, "" being 0 */
	uint32_t strings_written;
	struct map64 mappings;	  /* string of a module to the mapping's id */
	int place[REC_METRIC_NR]; /* of the metric's count among the values, -1 none */
	size_t value_count;
	char *text; /* owned; for rec_frame_text() */
	size_t text_size;
};

#define LABELS_MAX 6

/* ---- strings */

static int64_t string(struct document *doc, const char *text)
{
	uint32_t id;

	if (!*text)
		return 0;
	id = intern_add(&doc->strings, text, strlen(text));
	if (!id && !doc->stream.err)
		doc->stream.err = -ENOMEM;
	return id;
}

/* Any bytes, as valid UTF-8. */
static int64_t clean_string(struct document *doc, const char *text)
{
	char clean[4096];

	text_utf8(text, strlen(text), clean, sizeof(clean));
	return string(doc, clean);
}

static void put_strings(struct document *doc)
{
	while (doc->strings_written < doc->strings.count) {
		Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
		const char *text = intern_get(&doc->strings, ++doc->strings_written, NULL);
		char *row = strdup(text);

		if (!row) {
			doc->stream.err = -ENOMEM;
			return;
		}
		part.n_string_table = 1;
		part.string_table = &row;
		pprof_put(&doc->stream, &part);
		free(row);
	}
}

static void put_first_string(struct document *doc)
{
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	char empty[] = "";
	char *row = empty;

	part.n_string_table = 1;
	part.string_table = &row;
	pprof_put(&doc->stream, &part);
}

/* ---- what is measured, when, how well */

static int64_t put_type(struct document *doc, const char *name, const char *unit)
{
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType *row = &type;
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

	type.type = string(doc, name);
	type.unit = string(doc, unit);
	part.n_sample_type = 1;
	part.sample_type = &row;
	pprof_put(&doc->stream, &part);
	return type.type;
}

/* CPU is there in any case: an idle JVM's profile is one, too. */
static void put_types(struct document *doc)
{
	bool used[REC_METRIC_NR] = { [REC_CPU] = true };
	size_t count;
	const struct rec_total *totals = rec_totals(doc->rec, &count);

	for (size_t i = 0; i < count; i++)
		used[totals[i].key.metric] |= totals[i].count || totals[i].value;
	for (int metric = 0; metric < REC_METRIC_NR; metric++) {
		const struct rec_metric_info *info = rec_metric_info((enum rec_metric)metric);
		char name[64] = "samples";

		doc->place[metric] = -1;
		if (!used[metric])
			continue;
		if (metric != REC_CPU)
			snprintf(name, sizeof(name), "%s_count", info->name);
		doc->place[metric] = (int)doc->value_count;
		doc->value_count += 2;
		put_type(doc, name, "count");
		put_type(doc, info->name, info->unit);
	}
}

static void put_comment(struct document *doc, const char *text)
{
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	int64_t comment = clean_string(doc, text);

	part.n_comment = 1;
	part.comment = &comment;
	pprof_put(&doc->stream, &part);
}

static void put_comments(struct document *doc)
{
	static const char *const groups[REC_QUALITY_GROUP_NR] = {
		[REC_QUALITY_COMPLETE] = "stacks complete",
		[REC_QUALITY_TRUNCATED_BY] = "stacks truncated",
		[REC_QUALITY_BROKEN_BY] = "stacks broken",
		[REC_QUALITY_LOST] = "samples lost",
	};
	size_t count;
	const struct rec_quality_row *rows = rec_quality_rows(doc->rec, &count);
	char text[256];

	snprintf(text, sizeof(text), "jvmscope %s",
		 rec_text(doc->rec, rec_meta_get(doc->rec)->tool_version));
	put_comment(doc, text);
	for (size_t i = 0; i < count; i++) {
		if (!groups[rows[i].group] || !rows[i].count)
			continue;
		snprintf(text, sizeof(text), "%s%s%s: %llu", groups[rows[i].group],
			 *rows[i].name ? ", " : "", rows[i].name,
			 (unsigned long long)rows[i].count);
		put_comment(doc, text);
	}
}

/* What was not recorded all the time, or not of all, and why. */
static void put_changes(struct document *doc)
{
	size_t count;
	const struct rec_budget_event *events = rec_budget_events(doc->rec, &count);
	char change[REC_BUDGET_TEXT_MAX], text[REC_BUDGET_TEXT_MAX + 32];

	for (size_t i = 0; i < count; i++) {
		const struct rec_jvm *jvm = rec_jvm_get(doc->rec, events[i].jvm);

		snprintf(text, sizeof(text), "probes of pid %d: %s", jvm ? jvm->pid : 0,
			 rec_budget_event_text(doc->rec, &events[i], change));
		put_comment(doc, text);
	}
}

static void put_period(struct document *doc)
{
	const struct rec_meta *meta = rec_meta_get(doc->rec);
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

	type.type = string(doc, "cpu");
	type.unit = string(doc, "nanoseconds");
	part.period_type = &type;
	part.period = meta->frequency_hz ? 1000000000 / (int64_t)meta->frequency_hz : 0;
	part.time_nanos = meta->start_time_ns;
	part.duration_nanos = meta->end_time_ns - meta->start_time_ns;
	part.default_sample_type = type.type;
	pprof_put(&doc->stream, &part);
}

/* ---- mappings, functions, locations */

static void put_mapping(struct document *doc, uint64_t id, int64_t name)
{
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
	Perftools__Profiles__Mapping *row = &mapping;
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

	mapping.id = id;
	mapping.filename = name;
	mapping.has_functions = true;
	part.n_mapping = 1;
	part.mapping = &row;
	pprof_put(&doc->stream, &part);
}

/* The mapping of a module, written when it is new; 0 for Java. */
static uint64_t mapping_of(struct document *doc, uint32_t module)
{
	uint32_t id;

	if (!module)
		return 0;
	if (map64_get(&doc->mappings, module, &id))
		return id;
	id = (uint32_t)doc->mappings.count + 1;
	if (map64_set(&doc->mappings, module, id)) {
		doc->stream.err = -ENOMEM;
		return 0;
	}
	put_mapping(doc, id, clean_string(doc, rec_text(doc->rec, module)));
	return id;
}

static void put_function(struct document *doc, uint64_t id, const struct rec_method *method,
			 const char *name)
{
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	Perftools__Profiles__Function *row = &function;
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

	function.id = id;
	function.name = string(doc, name);
	/* As the JVM has it, where it differs: "com.example.Foo$$Lambda/0x7f01.run". */
	function.system_name = function.name;
	if (method->raw_class) {
		char raw[4096];

		snprintf(raw, sizeof(raw), "%s.%s", rec_text(doc->rec, method->raw_class),
			 rec_text(doc->rec, method->name));
		function.system_name = clean_string(doc, raw);
	}
	function.filename = clean_string(doc, rec_text(doc->rec, method->file));
	part.n_function = 1;
	part.function = &row;
	pprof_put(&doc->stream, &part);
}

static void put_functions(struct document *doc)
{
	for (uint32_t id = 0; id <= rec_method_count(doc->rec) && !doc->stream.err; id++)
		put_function(doc, (uint64_t)id + 1, rec_method_get(doc->rec, id),
			     rec_method_text(doc->rec, id, doc->text, doc->text_size));
}

/* The function of a frame; one of its own when only its address is known. */
static uint64_t function_of(struct document *doc, uint32_t id, const struct rec_frame *frame,
			    const struct rec_method *method)
{
	uint64_t function = (uint64_t)rec_method_count(doc->rec) + 2 + id;

	if (method->name || method->class_name || !method->module)
		return (uint64_t)frame->method + 1;
	put_function(doc, function, method,
		     rec_frame_text(doc->rec, id, doc->text, doc->text_size));
	return function;
}

static void put_location(struct document *doc, uint32_t id)
{
	const struct rec_frame *frame = rec_frame_get(doc->rec, id);
	const struct rec_method *method = rec_method_get(doc->rec, frame->method);
	Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT, *line_row = &line;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Location *row = &location;
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

	line.function_id = function_of(doc, id, frame, method);
	line.line = frame->line > 0 ? frame->line : 0;
	location.id = (uint64_t)id + 1;
	location.mapping_id = mapping_of(doc, method->module);
	location.address = frame->offset;
	location.n_line = 1;
	location.line = &line_row;
	part.n_location = 1;
	part.location = &row;
	pprof_put(&doc->stream, &part);
}

static void put_locations(struct document *doc)
{
	for (uint32_t id = 0; id <= rec_frame_count(doc->rec) && !doc->stream.err; id++)
		put_location(doc, id);
}

/* ---- samples */

static void add_label(struct document *doc, Label *labels, size_t *count, const char *key,
		      const char *text)
{
	Label *label = &labels[(*count)++];

	*label = (Label)PERFTOOLS__PROFILES__LABEL__INIT;
	label->key = string(doc, key);
	label->str = clean_string(doc, text);
}

static void add_number(struct document *doc, Label *labels, size_t *count, const char *key,
		       int64_t number)
{
	Label *label = &labels[(*count)++];

	*label = (Label)PERFTOOLS__PROFILES__LABEL__INIT;
	label->key = string(doc, key);
	label->num = number;
}

static size_t make_labels(struct document *doc, const struct rec_key *key, Label labels[LABELS_MAX])
{
	const struct rec_thread *thread = rec_thread_get(doc->rec, key->thread);
	enum rec_stack_state state = rec_stack_get(doc->rec, key->stack).state;
	size_t count = 0;

	if (thread) {
		add_label(doc, labels, &count, "thread", rec_text(doc->rec, thread->name));
		add_number(doc, labels, &count, "tid", thread->tid);
	}
	if (key->jvm && rec_jvm_count(doc->rec) > 1)
		add_number(doc, labels, &count, "pid", rec_jvm_get(doc->rec, key->jvm)->pid);
	if (key->label)
		add_label(doc, labels, &count, "label", rec_text(doc->rec, key->label));
	if (state != REC_STACK_COMPLETE)
		add_label(doc, labels, &count, "stack",
			  state == REC_STACK_TRUNCATED ? "truncated" : "broken");
	return count;
}

static int make_locations(const struct recording *rec, uint32_t stack, uint64_t **out,
			  size_t *out_count)
{
	struct rec_stack frames = rec_stack_get(rec, stack);
	uint64_t *ids = calloc((size_t)frames.count + 1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < frames.count; i++)
		ids[i] = (uint64_t)frames.frames[i] + 1;
	/* A sample without a stack is of the unknown frame: readers drop those without any. */
	ids[frames.count] = 1;
	*out = ids;
	*out_count = frames.count ? frames.count : 1;
	return 0;
}

static void put_sample(struct document *doc, const struct rec_total *total)
{
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *row = &sample;
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	int64_t values[2 * REC_METRIC_NR] = { 0 };
	Label labels[LABELS_MAX];
	Label *label_rows[LABELS_MAX];
	int place = doc->place[total->key.metric];

	if (make_locations(doc->rec, total->key.stack, &sample.location_id,
			   &sample.n_location_id)) {
		doc->stream.err = -ENOMEM;
		return;
	}
	values[place] = total->count;
	values[place + 1] = total->value;
	for (int i = 0; i < LABELS_MAX; i++)
		label_rows[i] = &labels[i];
	sample.n_value = doc->value_count;
	sample.value = values;
	sample.n_label = make_labels(doc, &total->key, labels);
	sample.label = label_rows;
	part.n_sample = 1;
	part.sample = &row;
	pprof_put(&doc->stream, &part);
	free(sample.location_id);
}

static void put_samples(struct document *doc)
{
	size_t count;
	const struct rec_total *totals = rec_totals(doc->rec, &count);

	for (size_t i = 0; i < count && !doc->stream.err; i++) {
		if (totals[i].count || totals[i].value)
			put_sample(doc, &totals[i]);
	}
}

int pprof_write(const struct recording *rec, const struct export_options *options, FILE *out)
{
	struct document doc = { .rec = rec };
	int err = pprof_stream_open(&doc.stream, out);

	(void)options;
	if (err)
		return err;
	doc.text_size = rec_text_size(rec);
	doc.text = malloc(doc.text_size);
	if (doc.text) {
		put_first_string(&doc);
		put_types(&doc);
		put_samples(&doc);
		put_functions(&doc);
		put_locations(&doc);
		put_period(&doc);
		put_comments(&doc);
		put_changes(&doc);
		put_strings(&doc);
	} else {
		doc.stream.err = -ENOMEM;
	}
	err = pprof_stream_close(&doc.stream);
	intern_free(&doc.strings);
	map64_free(&doc.mappings);
	free(doc.text);
	return err;
}
