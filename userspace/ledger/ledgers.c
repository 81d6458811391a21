/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledgers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "jvm/memory.h"
#include "ledger/counters.h"
#include "ledger/ledger.h"
#include "model/ledger.h"
#include "model/recording.h"
#include "target/maps.h"

#define NS_PER_S     1000000000ull
#define LEDGER_NS    (10 * NS_PER_S)
#define LEDGER_SHARE 100 /* a ledger is not due again before so many times what it took */
#define MOVED_SHARE  20	 /* of Rss: 5 % */
#define MOVED_NS     NS_PER_S
#define STEP_NS	     5000000	    /* of the walk over chunks at each tick */
#define FINISH_NS    (3 * NS_PER_S) /* for the walk at the end */
#define RETRY_NS     (NS_PER_S / 2)
#define TRIES_MAX    120 /* looks at a JVM that cannot be opened */

/* One JVM of the recording. */
struct ledger_of {
	uint32_t jvm;
	struct ledger *ledger; /* owned; NULL: not opened yet, or ended */
	uint32_t tries;
	bool ended;
	bool had_first;
	uint64_t retry_ns;
	uint64_t counters_ns; /* when they are due; CLOCK_MONOTONIC, as all here */
	uint64_t due_ns;
	uint64_t allowed_ns; /* not before, also when Rss moved */
	uint64_t began_ns;
	uint64_t rss_bytes; /* at the last ledger */
};

static int64_t epoch_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

/* ---- which JVMs */

static void add_new(struct ledgers *ledgers, const struct recording *rec)
{
	while (ledgers->jvms < rec_jvm_count(rec)) {
		size_t capacity = ledgers->capacity ? ledgers->capacity * 2 : 8;
		struct ledger_of *items = ledgers->items;

		if (ledgers->count == ledgers->capacity) {
			items = reallocarray(items, capacity, sizeof(*items));
			if (!items)
				return;
			ledgers->items = items;
			ledgers->capacity = capacity;
		}
		items[ledgers->count++] = (struct ledger_of){ .jvm = ++ledgers->jvms };
	}
}

static void end(struct ledger_of *of)
{
	ledger_close(of->ledger);
	of->ledger = NULL;
	of->ended = true;
}

/* Looked at before ledger_open, which says that there is no such process: no news at the end. */
static bool has_ended(pid_t pid)
{
	struct maps maps = { 0 };
	int err = maps_read(pid, &maps);
	bool ended = err == -ESRCH || (!err && !maps.count);

	maps_free(&maps);
	return ended;
}

/* It is described when its tables can be read. Whether there was something to try. */
static bool try_open(struct ledger_of *of, const struct recording *rec, uint64_t time_ns)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, of->jvm);
	struct vm_kind kind;
	int err;

	if (of->ended || of->ledger || !jvm || !jvm->major || time_ns < of->retry_ns)
		return false;
	if (has_ended(jvm->pid)) {
		of->ended = true;
		return true;
	}
	kind = (struct vm_kind){ .major = jvm->major, .gc_name = rec_text(rec, jvm->gc_name) };
	err = ledger_open(jvm->pid, &kind, &of->ledger);
	if (!err)
		return true;
	of->retry_ns = time_ns + RETRY_NS;
	of->tries++;
	if (err == -ESRCH || of->tries == TRIES_MAX) {
		log_warn("pid %d: its memory cannot be accounted for: %s", jvm->pid,
			 strerror(-err));
		of->ended = true;
	}
	return true;
}

/* ---- when */

static void finish_reading(struct ledger_of *of, struct recording *rec, uint64_t time_ns)
{
	const struct rec_ledger *last;

	ledger_put(of->ledger, rec, of->jvm);
	last = rec_ledger_last(rec, of->jvm);
	of->had_first = true;
	of->due_ns = of->began_ns + LEDGER_NS;
	of->allowed_ns = time_ns + MOVED_NS;
	if (!last)
		return;
	of->rss_bytes = last->rss_bytes;
	if (of->allowed_ns < time_ns + LEDGER_SHARE * last->cost_ns)
		of->allowed_ns = time_ns + LEDGER_SHARE * last->cost_ns;
	if (of->due_ns < of->allowed_ns)
		of->due_ns = of->allowed_ns;
}

static bool has_moved(const struct ledger_of *of, uint64_t rss_bytes)
{
	uint64_t moved =
		rss_bytes > of->rss_bytes ? rss_bytes - of->rss_bytes : of->rss_bytes - rss_bytes;

	return moved > of->rss_bytes / MOVED_SHARE;
}

/*
 * The next time to count: in the middle of a bucket of time, so that one that is a little late
 * still is in its own.
 */
static uint64_t next_count_ns(const struct recording *rec, uint64_t time_ns)
{
	int64_t since_ns = epoch_ns() - rec_meta_get(rec)->start_time_ns;
	uint64_t in_bucket_ns = since_ns > 0 ? (uint64_t)since_ns % NS_PER_S : 0;

	return time_ns + NS_PER_S / 2 - in_bucket_ns + (in_bucket_ns < NS_PER_S / 2 ? 0 : NS_PER_S);
}

static void count(struct ledger_of *of, struct recording *rec, uint64_t time_ns)
{
	uint64_t rss_bytes;

	if (time_ns < of->counters_ns)
		return;
	of->counters_ns = next_count_ns(rec, time_ns);
	if (ledger_count(of->ledger, rec, of->jvm, &rss_bytes))
		end(of);
	else if (has_moved(of, rss_bytes) && time_ns >= of->allowed_ns)
		of->due_ns = time_ns;
}

/* Whether it did something that takes a while: opened the JVM, or began a ledger. */
static bool tick(struct ledger_of *of, struct recording *rec, bool may_begin)
{
	uint64_t time_ns = clock_monotonic_ns();
	bool opens = may_begin && try_open(of, rec, time_ns), begins;

	if (!of->ledger)
		return opens;
	count(of, rec, time_ns);
	begins = of->ledger && may_begin && !ledger_is_reading(of->ledger) && time_ns >= of->due_ns;
	if (begins) {
		of->began_ns = time_ns;
		if (ledger_begin(of->ledger, !of->had_first))
			of->due_ns = time_ns + NS_PER_S;
		time_ns = clock_monotonic_ns();
	}
	if (of->ledger && ledger_is_reading(of->ledger) &&
	    ledger_step(of->ledger, time_ns + STEP_NS))
		finish_reading(of, rec, clock_monotonic_ns());
	return opens || begins;
}

/* Only beside a JVM that is counted, too. */
static void count_machine(struct ledgers *ledgers, struct recording *rec, uint64_t time_ns)
{
	if (!ledgers->count || time_ns < ledgers->machine_ns)
		return;
	ledgers->machine_ns = next_count_ns(rec, time_ns);
	counters_add_machine(rec);
}

void ledgers_tick(struct ledgers *ledgers, struct recording *rec)
{
	bool may_begin = true;

	add_new(ledgers, rec);
	count_machine(ledgers, rec, clock_monotonic_ns());
	/* One at a time: there may be dozens, and the ring waits. */
	for (size_t n = 0; n < ledgers->count; n++) {
		size_t at = (ledgers->next + n) % ledgers->count;

		if (tick(&ledgers->items[at], rec, may_begin)) {
			ledgers->next = at + 1;
			may_begin = false;
		}
	}
}

void ledgers_finish(struct ledgers *ledgers, struct recording *rec)
{
	uint64_t deadline_ns = clock_monotonic_ns() + FINISH_NS;

	add_new(ledgers, rec);
	count_machine(ledgers, rec, UINT64_MAX);
	for (size_t i = 0; i < ledgers->count; i++) {
		struct ledger_of *of = &ledgers->items[i];
		uint64_t rss_bytes;

		try_open(of, rec, UINT64_MAX);
		/* One that has ended meanwhile keeps its last complete ledger. */
		if (!of->ledger || ledger_count(of->ledger, rec, of->jvm, &rss_bytes) ||
		    ledger_begin(of->ledger, true))
			continue;
		ledger_step(of->ledger, deadline_ns);
		finish_reading(of, rec, clock_monotonic_ns());
	}
}

void ledgers_free(struct ledgers *ledgers)
{
	for (size_t i = 0; i < ledgers->count; i++)
		ledger_close(ledgers->items[i].ledger);
	free(ledgers->items);
	*ledgers = (struct ledgers){ 0 };
}
