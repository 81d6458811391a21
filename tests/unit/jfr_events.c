/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "exporters/jfr.h"
#include "golden/gc.h"
#include "golden/recording.h"
#include "model/classes.h"
#include "model/io.h"
#include "model/runtime.h"
#include "model/series.h"
#include "model/settings.h"
#include "unit/jfr_walk.h"

static void every_name_is_there_once(void)
{
	for (unsigned int id = 0; id < JFR_DECLARED_END; id++) {
		const struct jfr_type *type = jfr_type(id);

		if (type)
			ASSERT_INT(jfr_type_find(type->name), id);
	}
	ASSERT_INT(jfr_type_find("jdk.NoSuchEvent"), -1);
}

static void every_field_has_a_type_that_is_no_event(void)
{
	for (unsigned int id = 0; id < JFR_DECLARED_END; id++) {
		const struct jfr_type *type = jfr_type(id);

		for (size_t i = 0; type && i < type->field_count; i++) {
			const struct jfr_type *of = jfr_type(type->fields[i].type);

			CU_ASSERT_PTR_NOT_NULL_FATAL(of);
			CU_ASSERT_PTR_NULL(of->category);
		}
		if (!type || !(type->flags & JFR_SIMPLE))
			continue;
		/* async-profiler's converter reads the one field as a string. */
		ASSERT_INT(type->field_count, 1);
		ASSERT_INT(type->fields[0].type, JFR_STRING);
	}
}

/* What Grafana's reader asks for, and what async-profiler's converter reads by position. */
static void other_readers_find_what_they_need(void)
{
	static const struct {
		const char *name, *fields;
	} types[] = {
		{ "int", "" },
		{ "long", "" },
		{ "short", "" },
		{ "float", "" },
		{ "boolean", "" },
		{ "java.lang.String", "" },
		{ "java.lang.Thread", "osName osThreadId javaName javaThreadId group virtual " },
		{ "java.lang.Class", "classLoader name package modifiers hidden " },
		{ "jdk.types.ClassLoader", "type name " },
		{ "jdk.types.Package", "name module exported " },
		{ "jdk.types.Symbol", "string " },
		{ "jdk.types.FrameType", "description " },
		{ "jdk.types.ThreadState", "name " },
		{ "jdk.types.Method", "type name descriptor modifiers hidden " },
		{ "jdk.types.StackFrame", "method lineNumber bytecodeIndex type " },
		{ "jdk.types.StackTrace", "truncated frames " },
		{ "jdk.ExecutionSample", "sampledThread stackTrace state " },
		{ "jdk.NativeMethodSample", "sampledThread stackTrace state " },
		{ "profiler.WallClockSample", "sampledThread stackTrace state samples timeSpan " },
		{ "profiler.Malloc", "address size " },
		{ "profiler.Free", "address " },
		{ "jdk.ActiveSetting", "id name value " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		int id = jfr_type_find(types[i].name);
		struct strbuf fields = { 0 };

		CU_ASSERT_FATAL(id >= 0);
		for (size_t k = 0; k < jfr_type((unsigned int)id)->field_count; k++)
			strbuf_printf(&fields, "%s ", jfr_type((unsigned int)id)->fields[k].name);
		CU_ASSERT_STRING_EQUAL(strbuf_text(&fields), types[i].fields);
		strbuf_free(&fields);
	}
}

/* ---- docs/events.md */

static const char *short_name(enum jfr_type_id id)
{
	const char *name = jfr_type(id)->name, *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

static void add_field(struct strbuf *text, const char *name, enum jfr_type_id type,
		      enum jfr_unit unit)
{
	static const char *const units[JFR_UNIT_NR] = {
		[JFR_UNIT_NONE] = "",
		[JFR_UNIT_TICKS_AT] = ", time",
		[JFR_UNIT_MS_AT] = ", ms since the epoch",
		[JFR_UNIT_TICKS] = ", time span",
		[JFR_UNIT_NS] = ", ns",
		[JFR_UNIT_US] = ", us",
		[JFR_UNIT_MS] = ", ms",
		[JFR_UNIT_BYTES] = ", bytes",
		[JFR_UNIT_ADDRESS] = ", address",
		[JFR_UNIT_UNSIGNED] = "",
		[JFR_UNIT_PERCENT] = ", 0..1",
		[JFR_UNIT_HZ] = ", Hz",
	};

	strbuf_printf(text, "%s`%s` %s%s", text->len ? "; " : "", name, short_name(type),
		      units[unit]);
}

/* "`startTime` long, time; `jvmUser` float, 0..1": the line that the document must have. */
static void describe(const struct jfr_type *type, struct strbuf *text)
{
	add_field(text, "startTime", JFR_LONG, JFR_UNIT_TICKS_AT);
	if (type->flags & JFR_DURATION)
		add_field(text, "duration", JFR_LONG, JFR_UNIT_TICKS);
	if (type->flags & JFR_EVENT_THREAD)
		add_field(text, "eventThread", JFR_THREAD, JFR_UNIT_NONE);
	if (type->flags & JFR_EVENT_STACK)
		add_field(text, "stackTrace", JFR_STACK_TRACE, JFR_UNIT_NONE);
	for (size_t i = 0; i < type->field_count; i++)
		add_field(text, type->fields[i].name, type->fields[i].type, type->fields[i].unit);
	strbuf_puts(text, "\n");
}

static char *read_document(void)
{
	static char text[1 << 17];
	FILE *file = fopen("docs/events.md", "re");
	size_t len;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = 0;
	return text;
}

static void see_type(void *ctx, const struct walked_event *event)
{
	bool *written = ctx;

	if (event->type < JFR_DECLARED_FIRST)
		written[event->type] = true;
}

/* Two readings of what is counted each second. */
static void add_counters(struct recording *rec)
{
	static const char *const of_jvm[] = {
		REC_SERIES_AT,
		"rss_bytes",
		"cpu_user_ns_total",
		"cpu_system_ns_total",
		"threads_live",
		"classes_loaded_total",
		"cgroup_version",
		"cgroup_cpu_ns_total",
		"cgroup_cpu_periods_total",
		"cgroup_memory_refused_total",
		"compilations_total",
		"heap_used_bytes",
		"heap_eden_used_bytes",
	};
	static const char *const of_machine[] = {
		REC_MACHINE_SERIES_AT,	"machine_cpu_ns_total", "machine_context_switches_total",
		"machine_memory_bytes", "machine_swap_bytes",
	};

	for (int64_t second = 1; second <= 2; second++) {
		int64_t at_ns = second * 1000000000;
		int64_t time_ns = rec_meta_get(rec)->start_time_ns + at_ns;

		for (size_t i = 0; i < ARRAY_SIZE(of_jvm); i++)
			rec_series_add(rec, 1, of_jvm[i], time_ns, at_ns);
		for (size_t i = 0; i < ARRAY_SIZE(of_machine); i++)
			rec_series_add(rec, 0, of_machine[i], time_ns, at_ns);
	}
}

/* One of each that is seen where it happens. */
static void add_events(struct recording *rec)
{
	static const enum rec_metric metrics[] = { REC_LOCK_WAIT, REC_OBJECT_WAIT, REC_PARK,
						   REC_EXCEPTION, REC_DEOPTIMIZATION };
	struct rec_thread_event event = { .jvm = 1, .thread = 1, .time_ns = 1 };
	const struct rec_compilation compilation = { .jvm = 1, .thread = 1, .time_ns = 1 };

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		const struct rec_sample sample = {
			.key = { .metric = metrics[i], .jvm = 1, .thread = 1 },
			.state = REC_STATE_BLOCKED,
			.value = 1
		};

		rec_sample(rec, &sample);
	}
	rec_thread_event(rec, &event);
	event.ends = true;
	rec_thread_event(rec, &event);
	rec_compilation(rec, &compilation);
	for (enum rec_metric metric = REC_SOCKET_READ; metric <= REC_FILE_FORCE; metric++) {
		const struct rec_io row = { .jvm = 1, .thread = 1, .metric = metric, .time_ns = 1 };

		rec_io(rec, &row);
	}
}

static void add_settings(struct recording *rec)
{
	const struct rec_setting flag = { .jvm = 1,
					  .kind = REC_SETTING_FLAG,
					  .type = REC_SETTING_UNSIGNED_LONG,
					  .name = rec_string(rec, "MaxHeapSize", 11),
					  .value = rec_string(rec, "4096", 4) };
	const struct rec_setting other = { .jvm = 1,
					   .kind = REC_SETTING_FLAG,
					   .type = REC_SETTING_BOOL,
					   .name = rec_string(rec, "UseTLAB", 7) };

	rec_setting_set(rec, &flag);
	rec_setting_set(rec, &other);
}

/* The events that a recording with one of everything has. */
static void find_written(bool written[JFR_DECLARED_FIRST])
{
	const struct export_options options = { 0 };
	const struct walker walker = { .event = see_type, .ctx = written };
	struct recording *rec = golden_recording();
	struct rec_sample sample = {
		.key = { .thread = 1 },
		.state = REC_STATE_IN_NATIVE,
		.value = 10101010,
	};
	const struct rec_class class = { .jvm = 1,
					 .name = rec_string(rec, "x.Y", 3),
					 .time_ns = 1,
					 .end_time_ns = 4,
					 .link_ns = 1,
					 .link_time_ns = 2,
					 .initialize_ns = 1,
					 .initialize_time_ns = 3 };
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	golden_filter(rec, FILTER_MARK);
	golden_gc(rec);
	rec_samples_keep(rec, true);
	rec_sample(rec, &sample);
	sample.state = REC_STATE_IN_JAVA;
	rec_sample(rec, &sample);
	CU_ASSERT_FATAL(rec_class(rec, &class) != 0);
	rec_class_count_set(rec, 1, "loaded", 1);
	add_counters(rec);
	add_events(rec);
	add_settings(rec);
	ASSERT_INT(jfr_export(rec, &options, out), 0);
	fclose(out);
	ASSERT_INT(walk((const uint8_t *)bytes, size, &walker), 1);
	free(bytes);
	rec_free(rec);
}

static void every_event_that_is_written_is_documented(void)
{
	const char *document = read_document();
	bool written[JFR_DECLARED_FIRST] = { false };

	find_written(written);
	for (unsigned int id = JFR_JDK_EVENT_FIRST; id < JFR_DECLARED_FIRST; id++) {
		struct strbuf text = { 0 };
		bool found;

		/* Of ours also what that recording has nothing for. */
		if (!written[id] && (!jfr_type(id) || !jfr_type(id)->category ||
				     strncmp(jfr_type(id)->name, "jvmscope.", 9) != 0))
			continue;
		strbuf_printf(&text, "### %s\n", jfr_type(id)->name);
		found = strstr(document, text.text) != NULL;
		strbuf_reset(&text);
		describe(jfr_type(id), &text);
		if (!found || !strstr(document, text.text))
			fprintf(stderr, "docs/events.md: not there:\n### %s\n%s",
				jfr_type(id)->name, text.text);
		CU_ASSERT(found && strstr(document, text.text));
		strbuf_free(&text);
	}
}

static void every_event_that_is_documented_is_in_the_table(void)
{
	char *at = read_document();

	while ((at = strstr(at, "\n### "))) {
		char name[128];

		at += strlen("\n### ");
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "\n"), at);
		CU_ASSERT(jfr_type_find(name) >= 0 && jfr_type_find(name) < JFR_DECLARED_FIRST);
	}
}

static CU_TestInfo tests[] = {
	{ "every name is there once", every_name_is_there_once },
	{ "every field has a type that is no event", every_field_has_a_type_that_is_no_event },
	{ "other readers find what they need", other_readers_find_what_they_need },
	{ "every event that is written is documented", every_event_that_is_written_is_documented },
	{ "every event that is documented is in the table",
	  every_event_that_is_documented_is_in_the_table },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_events_suite = {
	.pName = "jfr_events",
	.pTests = tests,
};
