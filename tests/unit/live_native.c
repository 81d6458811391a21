/* SPDX-License-Identifier: Apache-2.0 */
#include "live/native.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/decode.h"
#include "live/native_impl.h"
#include "model/native.h"
#include "model/recording.h"
#include "target/target.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

/* Accounts as the kernel would have them, made by hand: there are no maps behind them. */

#define MAX_SITES 64

static struct jvs_native_control controls[JVS_MAX_TARGETS];
static struct jvs_native_site *sites;
static uint64_t site_count;
static struct process process;
static struct decoder decoder;
static struct native *native;
static struct recording *rec;

static int64_t sum_of(enum rec_metric metric)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);
	int64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += totals[i].key.metric == metric ? totals[i].value : 0;
	return bytes;
}

static void setup(void)
{
	memset(controls, 0, sizeof(controls));
	process = (struct process){ .index = 3 };
	decoder = (struct decoder){ 0 };
	site_count = 0;
	native = calloc(1, sizeof(*native));
	sites = calloc(MAX_SITES, sizeof(*sites));
	CU_ASSERT_FATAL(native && sites);
	native->controls = controls;
	native->sites = sites;
	native->site_count = &site_count;
	native->max_sites = MAX_SITES;
	native->known = calloc(MAX_SITES, sizeof(*native->known));
	native->counts_fd = native->live_fd = native->ids_fd = -1;
	native->unresolved = 1;
	fakes_reset();
	native->free_fd = FAKE_MAP_FD;
	fakes.maps[0].capacity = FAKE_MAP_ROWS;
	fakes.maps[0].value_size = sizeof(uint32_t);
	rec = rec_new();
	process.rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = 100 });
}

static void teardown(void)
{
	for (int i = 0; i < JVS_MAX_TARGETS; i++)
		native_free_retired(&native->targets[i]);
	free(native->resting.ids);
	free(native->known);
	free(native);
	fakes_reset();
	free(sites);
	rec_free(rec);
}

static void book(uint16_t tag, uint32_t target, uint64_t blocks, uint64_t bytes)
{
	sites[++site_count] = (struct jvs_native_site){ .target = target,
							.tag = tag,
							.allocated_blocks = blocks * JVS_NATIVE_ONE,
							.allocated_bytes = bytes };
}

/* The only row of a JVM that says anything. */
static const struct rec_native_site *row_of(uint32_t jvm)
{
	const struct rec_native_site *found = NULL, *row;

	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		row = rec_native_site_get(rec, id);
		if (row->jvm != jvm || !row->allocated_blocks)
			continue;
		CU_ASSERT_PTR_NULL(found);
		found = row;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	return found;
}

static void accounts_are_of_their_target(void)
{
	book(1, 3, 10, 1000);
	book(1, 4, 20, 2000);
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_blocks, 10);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 1000);
	/* What is told again is not added. */
	sites[1].allocated_bytes = 1500;
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 1500);
}

static void a_place_that_is_given_on_begins_anew(void)
{
	uint32_t first = process.rec_jvm;

	book(1, 3, 10, 1000);
	native_finish(native, &decoder, &process, rec);
	native_forget(native, &process);
	process.rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = 200 });
	book(1, 3, 7, 700);
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(first)->allocated_bytes, 1000);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_blocks, 7);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 700);
}

/* Its rows stay as they were when it ended, also when all is told once more. */
static void one_that_has_ended_stays_in_the_recording(void)
{
	book(1, 3, 10, 1000);
	book(2, 4, 1, 100);
	native_finish(native, &decoder, &process, rec);
	native_leave(native, &process);
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 1000);
	ASSERT_INT(sites[1].target, JVS_NATIVE_NOBODY);
	ASSERT_INT(sites[1].allocated_bytes, 0);
	ASSERT_INT(sites[2].allocated_bytes, 100);
}

static void its_places_are_used_again_after_a_rest(void)
{
	uint64_t now_ns = 5 * NATIVE_REST_NS;

	book(1, 4, 1, 100);
	book(1, 3, 10, 1000);
	book(2, 3, 20, 2000);
	native_finish(native, &decoder, &process, rec);
	native_leave(native, &process);
	native_tick_all(native, &decoder, now_ns);
	native_tick_all(native, &decoder, now_ns + NATIVE_REST_NS / 2);
	ASSERT_INT(fakes.maps[0].updates, 0);
	/* A call that was under way. */
	sites[2].allocated_blocks = JVS_NATIVE_ONE;
	native_tick_all(native, &decoder, now_ns + NATIVE_REST_NS);
	ASSERT_INT(fakes.maps[0].updates, 2);
	ASSERT_INT(fake_map_get(&fakes.maps[0], 0), 2);
	ASSERT_INT(fake_map_get(&fakes.maps[0], 1), 3);
	ASSERT_INT(sites[2].allocated_blocks, 0);
	native_tick_all(native, &decoder, now_ns + 9 * NATIVE_REST_NS);
	ASSERT_INT(fakes.maps[0].updates, 2);
	/* By another JVM, which may have the same place among the targets. */
	native_forget(native, &process);
	process.rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = 200 });
	sites[2] = (struct jvs_native_site){
		.target = 3, .tag = 7, .allocated_blocks = JVS_NATIVE_ONE, .allocated_bytes = 30
	};
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 30);
}

/* JVMs that end one after the other, faster than places rest. */
static void places_come_back_while_others_end(void)
{
	uint64_t now_ns = NATIVE_REST_NS;

	for (int i = 0; i < 20; i++) {
		book(1, 3, 1, 100);
		native_leave(native, &process);
		now_ns += NATIVE_REST_NS / 4;
		native_tick_all(native, &decoder, now_ns);
	}
	CU_ASSERT(fakes.maps[0].updates >= 10);
	CU_ASSERT(fakes.maps[0].updates < 20);
}

static void tick_at(uint64_t now_ns)
{
	native_tick_all(native, &decoder, now_ns);
	native_retire(native, &process, rec);
}

/* Of a site at which all was freed long ago the numbers stay, and the place is for another. */
static void quiet_sites_give_their_places_up_when_those_are_rare(void)
{
	uint64_t second = 1000000000, now_ns = second;

	for (int i = 1; i < MAX_SITES; i++)
		book(1, 3, 2, 100);
	/* One that lives, one that is quiet, and the others allocate and free. */
	for (int i = 2; i < MAX_SITES; i++) {
		sites[i].freed_blocks = sites[i].allocated_blocks;
		sites[i].freed_bytes = sites[i].allocated_bytes;
	}
	for (int k = 0; k < 20; k++) {
		for (int i = 3; i < MAX_SITES; i++) {
			sites[i].allocated_blocks += JVS_NATIVE_ONE;
			sites[i].freed_blocks += JVS_NATIVE_ONE;
		}
		tick_at(now_ns += second);
	}
	ASSERT_INT(fakes.maps[0].updates, 1);
	ASSERT_INT(fake_map_get(&fakes.maps[0], 0), 2);
	ASSERT_INT(sites[2].target, JVS_NATIVE_NOBODY);
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 100 * (MAX_SITES - 1));
	ASSERT_INT(row_of(process.rec_jvm)->freed_bytes, 100 * (MAX_SITES - 2));
	ASSERT_INT(sum_of(REC_NATIVE_ALLOC), 100 * (MAX_SITES - 1));
	/* And not twice, when it is told again. */
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 100 * (MAX_SITES - 1));
	ASSERT_INT(sum_of(REC_NATIVE_LIVE), 100);
}

static void quiet_sites_keep_their_places_where_there_are_enough(void)
{
	for (int i = 1; i < MAX_SITES / 2; i++) {
		book(1, 3, 2, 100);
		sites[i].freed_blocks = sites[i].allocated_blocks;
	}
	for (uint64_t k = 1; k < 40; k++)
		tick_at(k * 1000000000);
	ASSERT_INT(fakes.maps[0].updates, 0);
	ASSERT_INT(sites[1].target, 3);
}

/* A call that was under way when it was quiet. */
static void a_site_that_is_used_again_keeps_its_place(void)
{
	uint64_t second = 1000000000, now_ns = second;

	for (int i = 1; i < MAX_SITES; i++)
		book(1, 3, 2, 100);
	sites[1].freed_blocks = sites[1].allocated_blocks;
	for (int k = 0; k < 60 && !native->known[1].unlisted; k++)
		tick_at(now_ns += second);
	CU_ASSERT_FATAL(native->known[1].unlisted);
	sites[1].allocated_blocks += JVS_NATIVE_ONE;
	for (int k = 0; k < 40; k++)
		tick_at(now_ns += second);
	ASSERT_INT(fakes.maps[0].updates, 0);
	ASSERT_INT(sites[1].target, 3);
}

static void what_lives_is_withheld_once_it_is_lost(void)
{
	book(1, 3, 10, 1000);
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(sum_of(REC_NATIVE_LIVE), 1000);
	native->targets[3].live_lost = true;
	sites[1].allocated_bytes = 1500;
	native_finish(native, &decoder, &process, rec);
	ASSERT_INT(sum_of(REC_NATIVE_ALLOC), 1500);
	ASSERT_INT(sum_of(REC_NATIVE_LIVE), 0);
}

/* ---- slices of time */

#define MS 1000000ull

/* A target is watched for 100 ms of its work, and then in slices, between which it does the same.
 */
static struct native_target *begin_slices(void)
{
	struct native_target *t = &native->targets[3];

	t->begun = t->live_lost = true;
	t->start_work_ns = t->now_work_ns = 500 * MS;
	t->now_work_ns += 100 * MS;
	native_start_slices(native, 3);
	return t;
}

/* 90 ms of it are not seen, and in 10 ms some is allocated at each site. */
static void slice(struct native_target *t, const uint64_t *bytes)
{
	t->now_work_ns += 90 * MS;
	native_begin_slice(native, 3);
	t->now_work_ns += 10 * MS;
	for (uint64_t i = 0; i < site_count; i++) {
		sites[i + 1].allocated_bytes += bytes[i];
		sites[i + 1].allocated_blocks += bytes[i] / 100 * JVS_NATIVE_ONE;
	}
	native_end_slice(native, 3);
}

static const struct rec_native_site *row_of_tag(const char *tag)
{
	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		const struct rec_native_site *row = rec_native_site_get(rec, id);

		if (!strcmp(rec_text(rec, row->tag), tag))
			return row;
	}
	CU_FAIL_FATAL("no such tag");
	return NULL;
}

static void slices_stand_for_what_was_not_seen(void)
{
	const uint64_t bytes[] = { 1000, 500 };
	struct native_target *t;

	book(1, 3, 100, 10000);
	book(2, 3, 50, 5000);
	t = begin_slices();
	for (int i = 0; i < 20; i++)
		slice(t, bytes);
	t->now_work_ns += 50 * MS;
	native_finish(native, &decoder, &process, rec);
	CU_ASSERT(rec_native_budget(rec, process.rec_jvm)->estimated);
	/* 100 ms, 20 slices, and half of what comes before one */
	ASSERT_INT(row_of_tag("tag 1")->allocated_bytes, 10000 + 20 * 10000 + 5000);
	ASSERT_INT(row_of_tag("tag 1")->allocated_blocks, 2150);
	ASSERT_INT(row_of_tag("tag 2")->allocated_bytes, 5000 + 20 * 5000 + 2500);
	ASSERT_INT(sum_of(REC_NATIVE_ALLOC), 3 * (5000 + 20 * 5000 + 2500));
	CU_ASSERT(row_of_tag("tag 1")->slice_error_bytes < 1);
}

static void few_slices_say_nothing_of_what_was_not_seen(void)
{
	const uint64_t bytes[] = { 1000 };
	struct native_target *t;

	book(1, 3, 100, 10000);
	t = begin_slices();
	for (int i = 0; i < 3; i++)
		slice(t, bytes);
	native_finish(native, &decoder, &process, rec);
	CU_ASSERT(!rec_native_budget(rec, process.rec_jvm)->estimated);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 10000 + 3 * 1000);
	/* More of them do. */
	for (int i = 3; i < 20; i++)
		slice(t, bytes);
	native_finish(native, &decoder, &process, rec);
	CU_ASSERT(rec_native_budget(rec, process.rec_jvm)->estimated);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 10000 + 20 * 10000);
	/* And none for long, no more. */
	t->now_work_ns += 1500 * MS;
	native_finish(native, &decoder, &process, rec);
	CU_ASSERT(!rec_native_budget(rec, process.rec_jvm)->estimated);
	ASSERT_INT(row_of(process.rec_jvm)->allocated_bytes, 10000 + 20 * 1000);
}

static void no_slice_at_all_says_nothing(void)
{
	struct native_target *t;

	book(1, 3, 100, 10000);
	t = begin_slices();
	t->now_work_ns += 1000 * MS;
	native_finish(native, &decoder, &process, rec);
	CU_ASSERT(!rec_native_budget(rec, process.rec_jvm)->estimated);
}

/* The sum of all is even, and yet one of its tags is not. */
static void a_tag_with_much_of_all_is_to_be_certain_too(void)
{
	const uint64_t even[] = { 700, 300 }, odd[] = { 300, 700 };
	struct native_target *t;

	book(1, 3, 0, 0);
	book(2, 3, 0, 0);
	t = begin_slices();
	for (int i = 0; i < 20; i++)
		slice(t, i % 2 ? odd : even);
	native_finish(native, &decoder, &process, rec);
	CU_ASSERT(!rec_native_budget(rec, process.rec_jvm)->estimated);
	CU_ASSERT(rec_native_budget(rec, process.rec_jvm)->error_pct > 5);
}

/* What is booked while probes come and go is of the stretch, which the slice stands for. */
static void what_was_seen_between_slices_is_not_told_twice(void)
{
	const uint64_t bytes[] = { 1000 };
	struct native_target *t;

	book(1, 3, 100, 10000);
	t = begin_slices();
	for (int i = 0; i < 20; i++) {
		sites[1].allocated_bytes += 700;
		slice(t, bytes);
	}
	sites[1].allocated_bytes += 700;
	t->now_work_ns += 90 * MS;
	native_finish(native, &decoder, &process, rec);
	CU_ASSERT(labs(row_of(process.rec_jvm)->allocated_bytes - (10000 + 20 * 10000 + 9000)) <
		  1000);
}

/* The recorder may look seldom, as when others want the CPU. */
static void what_falls_between_two_looks_is_seen(void)
{
	struct target self = { .pid = getpid(), .pidfd = -1 };
	struct native_target *t = &native->targets[process.index];
	const int64_t *levels;

	process.target = &self;
	t->begun = true;
	book(1, 3, 10, 100000);
	native_follow(native, &process, false);
	t->clock.step_ns = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(native->known[1].level);
	levels = native->known[1].level->bytes;
	ASSERT_INT(levels[0], 100000);

	/* The kernel books so when it frees. */
	sites[1].allocated_bytes += 110000;
	sites[1].freed_bytes += 80000;
	sites[1].low = 20000;
	native_follow(native, &process, false);
	ASSERT_INT(levels[1], 20000);
	sites[1].allocated_bytes += 10000;
	native_follow(native, &process, false);
	ASSERT_INT(levels[2], 130000);
	native_follow(native, &process, true);
	ASSERT_INT(levels[3], 140000);
	free(native->known[1].level);
}

/* Nobody waits for its end, which is before the next tick. */
static void a_slice_ends_when_it_is_over(void)
{
	static struct process processes[JVS_MAX_TARGETS];
	struct native_target *t = &native->targets[3];
	uint64_t end_ns;

	ASSERT_INT(target_open(getpid(), &process.target), 0);
	processes[3] = process;
	decoder.processes = processes;
	native->max_overhead = 1;
	native_begin_budget(native, &process);
	ASSERT_INT(native_slice_end_ns(native), 0);
	t->governor.state = REC_NATIVE_SLICES;
	t->governor.attached = false;
	t->governor.slice_rate = 100;
	native_keep_budget(native, &decoder, &process, rec);
	CU_ASSERT_TRUE(t->governor.attached);
	end_ns = native_slice_end_ns(native);
	ASSERT_INT(end_ns, t->governor.slice_ns + t->governor.length_ns);
	CU_ASSERT_TRUE(t->governor.length_ns && t->governor.length_ns < 100000000);

	native_look_at_slices(native, &decoder, rec, end_ns - 1);
	CU_ASSERT_TRUE(t->governor.attached);
	while (clock_monotonic_ns() < end_ns)
		usleep(1000);
	native_look_at_slices(native, &decoder, rec, clock_monotonic_ns());
	CU_ASSERT_FALSE(t->governor.attached);
	ASSERT_INT(native_slice_end_ns(native), 0);
	target_close(process.target);
}

static CU_TestInfo tests[] = {
	{ "what falls between two looks is seen", what_falls_between_two_looks_is_seen },
	{ "slices stand for what was not seen", slices_stand_for_what_was_not_seen },
	{ "few slices say nothing of what was not seen",
	  few_slices_say_nothing_of_what_was_not_seen },
	{ "no slice at all says nothing", no_slice_at_all_says_nothing },
	{ "a tag with much of all is to be certain too",
	  a_tag_with_much_of_all_is_to_be_certain_too },
	{ "what was seen between slices is not told twice",
	  what_was_seen_between_slices_is_not_told_twice },
	{ "one that has ended stays in the recording", one_that_has_ended_stays_in_the_recording },
	{ "its places are used again after a rest", its_places_are_used_again_after_a_rest },
	{ "places come back while others end", places_come_back_while_others_end },
	{ "quiet sites give their places up when those are rare",
	  quiet_sites_give_their_places_up_when_those_are_rare },
	{ "quiet sites keep their places where there are enough",
	  quiet_sites_keep_their_places_where_there_are_enough },
	{ "a site that is used again keeps its place", a_site_that_is_used_again_keeps_its_place },
	{ "what lives is withheld once it is lost", what_lives_is_withheld_once_it_is_lost },
	{ "a slice ends when it is over", a_slice_ends_when_it_is_over },
	{ "accounts are of their target", accounts_are_of_their_target },
	{ "a place that is given on begins anew", a_place_that_is_given_on_begins_anew },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_native_suite = {
	.pName = "live/native",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
