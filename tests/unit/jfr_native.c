/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/strbuf.h"
#include "jfr/jfr_fill.h"
#include "jfr/jfr_write.h"
#include "model/native.h"
#include "unit/rec_random.h"
#include "unit/unit.h"

#define NS_PER_SECOND 1000000000ll
#define PIECES_MAX    100000

static char *bytes;
static size_t size;

static void setup(void)
{
	bytes = NULL;
	size = 0;
}

static void teardown(void)
{
	free(bytes);
}

/* ---- writing: sites that grow and shrink, one segment each */

static int append(void *ctx, const struct jfr_finished_segment *segment)
{
	(void)ctx;
	bytes = realloc(bytes, size + segment->size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	memcpy(bytes + size, segment->bytes, segment->size);
	size += segment->size;
	return 0;
}

struct sites {
	struct recording *rec;
	struct jfr_writer *writer;
	int64_t end_ns;
};

static struct sites begin(void)
{
	const struct jfr_writer_options options = { .sink = append };
	struct sites s = { .rec = rec_new() };
	struct rec_jvm jvm = { .pid = 42, .start_time_ns = 1000 };

	CU_ASSERT_PTR_NOT_NULL_FATAL(s.rec);
	rec_jvm(s.rec, &jvm);
	rec_meta(s.rec)->start_time_ns = s.end_ns = 1700000000 * NS_PER_SECOND;
	ASSERT_INT(jfr_writer_open(&options, s.rec, &s.writer), 0);
	return s;
}

/* What was allocated at a site since, and what was freed of it. */
static void add(struct sites *s, uint32_t site, int64_t allocated, int64_t freed)
{
	struct rec_method method = { .module = rec_string(s->rec, "libjvm.so", 9) };
	struct rec_frame frame = { .kind = REC_FRAME_CPP, .line = -1, .bci = -1 };
	struct rec_key key = { .metric = REC_NATIVE_ALLOC, .jvm = 1 };
	uint32_t id;
	char name[16];

	snprintf(name, sizeof(name), "f%u", site);
	method.name = rec_string(s->rec, name, strlen(name));
	frame.method = rec_method(s->rec, &method);
	id = rec_frame(s->rec, &frame);
	key.stack = rec_stack(s->rec, &id, 1, REC_STACK_COMPLETE);
	key.label = rec_string(s->rec, "Other", 5);
	rec_add(s->rec, &key, allocated / 8, allocated);
	key.metric = REC_NATIVE_LIVE;
	rec_add(s->rec, &key, (allocated - freed) / 8, allocated - freed);
}

static void end_segment(struct sites *s)
{
	s->end_ns += 10 * NS_PER_SECOND;
	rec_meta(s->rec)->end_time_ns = s->end_ns;
	ASSERT_INT(jfr_writer_segment(s->writer, s->rec, s->end_ns, -1), 0);
}

static void finish(struct sites *s)
{
	jfr_writer_close(s->writer);
	rec_free(s->rec);
}

/* ---- reading, as a reader of async-profiler's files does */

struct mallocs {
	int64_t sizes[PIECES_MAX]; /* by address; 0: freed */
	int64_t allocated;
	int64_t live;
	int events;
	int64_t last_ns;
};

enum { AT_TIME, AT_ADDRESS, AT_SIZE };

static void on_malloc(void *ctx, const struct jfr_item *e)
{
	struct mallocs *m = ctx;
	int64_t address = jfr_number(e, AT_ADDRESS);

	CU_ASSERT_FATAL(address > 0 && address < PIECES_MAX && !m->sizes[address]);
	CU_ASSERT_FATAL(jfr_number(e, AT_SIZE) > 0);
	m->sizes[address] = jfr_number(e, AT_SIZE);
	m->allocated += m->sizes[address];
	m->live += m->sizes[address];
	m->events++;
	m->last_ns = jfr_ns(e, AT_TIME);
}

static void on_free(void *ctx, const struct jfr_item *e)
{
	struct mallocs *m = ctx;
	int64_t address = jfr_number(e, AT_ADDRESS);

	CU_ASSERT_FATAL(address > 0 && address < PIECES_MAX && m->sizes[address]);
	m->live -= m->sizes[address];
	m->sizes[address] = 0;
	m->events++;
}

static void read_mallocs(struct mallocs *m)
{
	static const struct jfr_want wants[] = {
		{ .type = "profiler.Malloc",
		  .fields = { "startTime", "address", "size" },
		  .on_event = on_malloc },
		{ .type = "profiler.Free",
		  .fields = { "startTime", "address" },
		  .on_event = on_free },
	};
	const struct jfr_visitor visitor = { .wants = wants, .want_count = ARRAY_SIZE(wants) };
	struct jfr_result result;
	struct jfr_input in;

	memset(m, 0, sizeof(*m));
	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_each_event(&in, &visitor, m, &result), 0);
	jfr_input_close(&in);
	ASSERT_INT(result.bytes_lost + result.events_damaged, 0);
}

static struct recording *read_back(void)
{
	const struct jfr_fill_options options = { .name = "memory" };
	struct recording *rec = rec_new();
	struct jfr_result result;
	struct jfr_input in;

	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_fill(&in, &options, rec, &result), 0);
	jfr_input_close(&in);
	return rec;
}

enum { LIVE_COUNT, LIVE_SIZE };

static void on_site(void *ctx, const struct jfr_item *e)
{
	int64_t *said = ctx;

	said[LIVE_COUNT] = jfr_number(e, LIVE_COUNT);
	said[LIVE_SIZE] = jfr_number(e, LIVE_SIZE);
}

/* What the file says last of the only site: how much of it lives. */
static void read_live(int64_t said[2])
{
	static const struct jfr_want want = { .type = "jvmscope.NativeAllocation",
					      .fields = { "liveCount", "liveSize" },
					      .on_event = on_site };
	const struct jfr_visitor visitor = { .wants = &want, .want_count = 1 };
	struct jfr_result result;
	struct jfr_input in;

	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_each_event(&in, &visitor, said, &result), 0);
	jfr_input_close(&in);
}

static int64_t sum(const struct recording *rec, enum rec_metric metric)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);
	int64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += totals[i].key.metric == metric ? totals[i].value : 0;
	return all;
}

/* ---- tests */

static void events_add_up_to_what_was_allocated_and_lives(void)
{
	/* allocated, freed: of one site in each segment */
	static const int64_t cases[][8][2] = {
		{ { 800, 0 } },
		{ { 800, 800 } },
		{ { 800, 0 }, { 800, 0 }, { 800, 0 } },
		{ { 800, 0 }, { 0, 0 }, { 0, 800 } },
		{ { 800, 0 }, { 8000, 8400 } },
		{ { 800, 0 }, { 80, 0 }, { 8000, 8480 }, { 400, 400 }, { 0, 400 } },
		{ { 8, 0 }, { 16, 0 }, { 24, 0 }, { 800, 840 }, { 80, 0 } },
	};
	static struct mallocs m;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sites s = begin();
		struct recording *rec;
		int64_t allocated = 0, live = 0;

		for (size_t k = 0; k < ARRAY_SIZE(cases[i]); k++) {
			add(&s, 1, cases[i][k][0], cases[i][k][1]);
			end_segment(&s);
			allocated += cases[i][k][0];
			live += cases[i][k][0] - cases[i][k][1];
			read_mallocs(&m);
			ASSERT_INT(m.live, live);
			ASSERT_INT(m.allocated, allocated);
		}
		rec = read_back();
		ASSERT_INT(sum(rec, REC_NATIVE_ALLOC), allocated);
		ASSERT_INT(sum(rec, REC_NATIVE_LIVE), live);
		rec_free(rec);
		finish(&s);
		free(bytes);
		setup();
	}
}

/* Probes were taken off: who reads the file is told nothing of what lives, also not of before. */
static void what_lives_is_withheld_where_it_is_not_known(void)
{
	static struct mallocs m;
	struct sites s = begin();
	struct recording *rec;
	int64_t said[2] = { 0 };

	rec_native_budget(s.rec, 1)->live_known = true;
	add(&s, 1, 800, 0);
	end_segment(&s);
	read_live(said);
	ASSERT_INT(said[LIVE_COUNT], 100);
	ASSERT_INT(said[LIVE_SIZE], 800);
	rec_native_budget(s.rec, 1)->live_known = false;
	/* As the totals are told then: see live/native_accounts.c. */
	add(&s, 1, 80, 880);
	end_segment(&s);
	read_live(said);
	ASSERT_INT(said[LIVE_COUNT], INT64_MIN);
	ASSERT_INT(said[LIVE_SIZE], INT64_MIN);
	read_mallocs(&m);
	ASSERT_INT(m.allocated, 880);
	ASSERT_INT(m.live, 0);
	rec = read_back();
	ASSERT_INT(sum(rec, REC_NATIVE_ALLOC), 880);
	ASSERT_INT(sum(rec, REC_NATIVE_LIVE), 0);
	rec_free(rec);
	finish(&s);
}

struct change {
	int count;
	int64_t time_ns, pid;
	char to[16], reason[32];
};

enum { CHANGE_TIME, CHANGE_PID, CHANGE_TO, CHANGE_REASON };

static void copy_text(const struct jfr_item *e, int field, char *to, size_t to_size)
{
	struct strbuf text = { 0 };

	CU_ASSERT_FATAL(jfr_text(e, (unsigned int)field, &text) && text.len < to_size);
	memcpy(to, text.text, text.len);
	to[text.len] = 0;
	strbuf_free(&text);
}

static void on_change(void *ctx, const struct jfr_item *e)
{
	struct change *change = ctx;

	change->count++;
	change->time_ns = jfr_ns(e, CHANGE_TIME);
	change->pid = jfr_number(e, CHANGE_PID);
	copy_text(e, CHANGE_TO, change->to, sizeof(change->to));
	copy_text(e, CHANGE_REASON, change->reason, sizeof(change->reason));
}

static void read_changes(struct change *change)
{
	static const struct jfr_want want = { .type = "jvmscope.ProbeState",
					      .fields = { "startTime", "pid", "to", "reason" },
					      .on_event = on_change };
	const struct jfr_visitor visitor = { .wants = &want, .want_count = 1 };
	struct jfr_result result;
	struct jfr_input in;

	*change = (struct change){ 0 };
	jfr_input_memory(bytes, size, &in);
	ASSERT_INT(jfr_each_event(&in, &visitor, change, &result), 0);
	jfr_input_close(&in);
}

static void each_change_of_the_budget_is_an_event(void)
{
	struct sites s = begin();
	struct rec_budget_event event = { .jvm = 1,
					  .group = REC_PROBES_NATIVE,
					  .time_ns = s.end_ns + NS_PER_SECOND,
					  .to = REC_NATIVE_SAMPLED,
					  .reason = REC_BUDGET_OVER };
	struct change change;

	rec_budget_event(s.rec, &event);
	end_segment(&s);
	read_changes(&change);
	ASSERT_INT(change.count, 1);
	ASSERT_INT(change.time_ns, event.time_ns);
	ASSERT_INT(change.pid, 42);
	CU_ASSERT_STRING_EQUAL(change.to, "sampled");
	CU_ASSERT_STRING_EQUAL(change.reason, "over_limit");
	/* Once: the next segment has what came since. */
	event.to = REC_NATIVE_EXACT;
	event.reason = REC_BUDGET_CHEAP;
	rec_budget_event(s.rec, &event);
	end_segment(&s);
	read_changes(&change);
	ASSERT_INT(change.count, 2);
	CU_ASSERT_STRING_EQUAL(change.to, "exact");
	CU_ASSERT_STRING_EQUAL(change.reason, "within_limit");
	finish(&s);
}

/* A piece comes back smaller than it was freed: taken from what is allocated next. */
static void a_part_of_a_piece_that_is_freed_is_made_up_for(void)
{
	static struct mallocs m;
	struct sites s = begin();

	add(&s, 1, 800, 0);
	end_segment(&s);
	add(&s, 1, 0, 400);
	end_segment(&s);
	read_mallocs(&m);
	ASSERT_INT(m.live, 400);
	ASSERT_INT(m.allocated, 1200);
	add(&s, 1, 4000, 4000);
	end_segment(&s);
	read_mallocs(&m);
	ASSERT_INT(m.live, 400);
	ASSERT_INT(m.allocated, 4800);
	finish(&s);
}

static void a_segment_has_only_sites_that_changed(void)
{
	static struct mallocs m;
	struct sites s = begin();

	for (uint32_t site = 1; site <= 50; site++)
		add(&s, site, 800, 400);
	end_segment(&s);
	read_mallocs(&m);
	ASSERT_INT(m.events, 50 * 3);
	end_segment(&s);
	add(&s, 7, 8, 8);
	end_segment(&s);
	read_mallocs(&m);
	ASSERT_INT(m.events, 50 * 3 + 2);
	/* At the start of its segment: readers leave out what is young at the end. */
	ASSERT_INT(m.last_ns, s.end_ns - 10 * NS_PER_SECOND);
	finish(&s);
}

static void a_site_that_grows_for_long_can_shrink_by_what_is_young(void)
{
	static struct mallocs m;
	struct sites s = begin();

	for (int i = 0; i < 200; i++) {
		add(&s, 1, 80, 0);
		end_segment(&s);
	}
	add(&s, 1, 0, 60 * 80);
	end_segment(&s);
	read_mallocs(&m);
	ASSERT_INT(m.live, 140 * 80);
	ASSERT_INT(m.allocated, 200 * 80);
	/* All of it: the eldest stay. */
	add(&s, 1, 0, 140 * 80);
	end_segment(&s);
	read_mallocs(&m);
	ASSERT_INT(m.live, (200 - 64) * 80);
	finish(&s);
}

static CU_TestInfo tests[] = {
	{ "each change of the budget is an event", each_change_of_the_budget_is_an_event },
	{ "what lives is withheld where it is not known",
	  what_lives_is_withheld_where_it_is_not_known },
	{ "events add up to what was allocated and lives",
	  events_add_up_to_what_was_allocated_and_lives },
	{ "a part of a piece that is freed is made up for",
	  a_part_of_a_piece_that_is_freed_is_made_up_for },
	{ "a segment has only sites that changed", a_segment_has_only_sites_that_changed },
	{ "a site that grows for long can shrink by what is young",
	  a_site_that_grows_for_long_can_shrink_by_what_is_young },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_native_suite = {
	.pName = "jfr_native",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
