/* SPDX-License-Identifier: Apache-2.0 */
#include "model/growth.h"

#include <string.h>

#define FIRST_STEP_NS 100000000ull /* as often as recordings are looked after */
#define LOOKS_LEAST   4		   /* to say anything, from before the first byte on */
#define LOOKS_NO_LEAK 8		   /* to say that it has stopped to grow */
#define QUARTERS      4
#define SHARE_LEAST   16 /* a quarter grew when it has such a part of all growth */
#define FALL_SHARE    8	 /* and such a part of what it once fell */
#define ONCE_STEPS    2	 /* what comes at once may do so during a look */

const char *growth_kind_name(enum growth_kind kind)
{
	static const char *const names[GROWTH_KIND_NR] = {
		[GROWTH_UNDECIDED] = "undecided",
		[GROWTH_LEAK] = "leak",
		[GROWTH_ONCE] = "once",
		[GROWTH_POOL] = "pool",
	};

	return names[kind];
}

int growth_kind_find(const char *name)
{
	for (int kind = 0; kind < GROWTH_KIND_NR; kind++)
		if (!strcmp(growth_kind_name((enum growth_kind)kind), name))
			return kind;
	return -1;
}

/* ---- looks */

bool growth_is_due(const struct growth_clock *clock, uint64_t time_ns)
{
	return !clock->count || time_ns >= clock->time_ns[clock->count - 1] + clock->step_ns;
}

static void thin(uint64_t numbers[GROWTH_POINTS])
{
	for (size_t i = 0; i < GROWTH_POINTS / 2; i++)
		numbers[i] = numbers[2 * i];
}

void growth_thin(struct growth_level *level)
{
	for (size_t i = 1; i < GROWTH_POINTS / 2; i++) {
		int64_t before = level->bytes[2 * i - 1], at = level->bytes[2 * i];

		level->bytes[i] = before < at ? before : at;
	}
	memset(level->bytes + GROWTH_POINTS / 2, 0, sizeof(level->bytes) / 2);
}

uint32_t growth_look(struct growth_clock *clock, const struct growth_look *look, bool *thinned)
{
	*thinned = clock->count == GROWTH_POINTS;
	if (!clock->count)
		clock->step_ns = FIRST_STEP_NS;
	if (*thinned) {
		thin(clock->time_ns);
		thin(clock->work_ns);
		thin(clock->collections);
		clock->count = GROWTH_POINTS / 2;
		clock->step_ns *= 2;
	}
	clock->time_ns[clock->count] = look->time_ns;
	clock->work_ns[clock->count] = look->work_ns;
	clock->collections[clock->count] = look->collections;
	return clock->count++;
}

/* ---- the kind */

/* What the level never falls below from each look on. */
static void find_floor(const struct growth_clock *clock, const struct growth_level *level,
		       struct growth_level *floor)
{
	int64_t lowest = INT64_MAX;

	for (uint32_t i = clock->count; i-- > 0;) {
		if (level->bytes[i] < lowest)
			lowest = level->bytes[i];
		floor->bytes[i] = lowest;
	}
}

/* The look before the first byte. */
static uint32_t find_start(const struct growth_clock *clock, const struct growth_level *level)
{
	uint32_t at = 0;

	while (at < clock->count && !level->bytes[at])
		at++;
	return at ? at - 1 : 0;
}

/* Of two looks, the part of the floor's growth between them that came until some work was done. */
static double floor_at(const struct growth_clock *clock, const struct growth_level *floor,
		       uint32_t start, double work_ns)
{
	uint32_t at = start;
	double from, to;

	while (at + 2 < clock->count && (double)clock->work_ns[at + 1] < work_ns)
		at++;
	from = (double)clock->work_ns[at];
	to = (double)clock->work_ns[at + 1];
	if (to <= from)
		return (double)floor->bytes[at + 1];
	return (double)floor->bytes[at] +
	       (work_ns - from) / (to - from) * (double)(floor->bytes[at + 1] - floor->bytes[at]);
}

/* How deep the level ever fell. */
static int64_t find_fall(const struct growth_clock *clock, const struct growth_level *level,
			 const struct growth_level *floor)
{
	int64_t fall = 0;

	for (uint32_t i = 0; i < clock->count; i++)
		if (level->bytes[i] - floor->bytes[i] > fall)
			fall = level->bytes[i] - floor->bytes[i];
	return fall;
}

/* Whether the floor rose in each quarter of the work but the first, when it may have begun late. */
static bool grew_all_the_time(const struct growth_clock *clock, const struct growth_level *floor,
			      uint32_t start, int64_t fall)
{
	double work_ns = (double)clock->work_ns[start];
	double all_ns = (double)clock->work_ns[clock->count - 1] - work_ns;
	double least = (double)(floor->bytes[clock->count - 1] - floor->bytes[start]) / SHARE_LEAST;
	double before = floor_at(clock, floor, start, work_ns + all_ns / QUARTERS), now;

	/* The lowest points of what goes up and down are not all seen. */
	if (least < (double)fall / FALL_SHARE)
		least = (double)fall / FALL_SHARE;
	for (int quarter = 2; quarter <= QUARTERS; quarter++) {
		now = floor_at(clock, floor, start, work_ns + quarter * all_ns / QUARTERS);
		if (now - before < least)
			return false;
		before = now;
	}
	return true;
}

static bool came_at_once(const struct growth_clock *clock, const struct growth_level *floor,
			 uint32_t start)
{
	int64_t all = floor->bytes[clock->count - 1] - floor->bytes[start];

	for (uint32_t i = start; i + ONCE_STEPS < clock->count; i++) {
		int64_t came = floor->bytes[i + ONCE_STEPS] - floor->bytes[i];

		if (all - came <= all / SHARE_LEAST)
			return true;
	}
	return false;
}

enum growth_kind growth_judge(const struct growth_clock *clock, const struct growth_level *level)
{
	uint32_t start = find_start(clock, level);
	struct growth_level floor = { 0 };
	int64_t fall;
	bool grew;

	if (clock->count < start + LOOKS_LEAST || clock->count > GROWTH_POINTS)
		return GROWTH_UNDECIDED;
	find_floor(clock, level, &floor);
	fall = find_fall(clock, level, &floor);
	grew = floor.bytes[clock->count - 1] > floor.bytes[start];
	if (grew && grew_all_the_time(clock, &floor, start, fall))
		return GROWTH_LEAK;
	if (clock->count < start + LOOKS_NO_LEAK)
		return GROWTH_UNDECIDED;
	if (grew && came_at_once(clock, &floor, start) &&
	    fall <= level->bytes[clock->count - 1] / SHARE_LEAST)
		return GROWTH_ONCE;
	return GROWTH_POOL;
}

/* ---- figures */

double growth_bytes_per_minute(const struct growth_clock *clock, const struct growth_level *level)
{
	double count = clock->count, time = 0, bytes = 0, spread = 0, product = 0;

	for (uint32_t i = 0; i < clock->count; i++) {
		time += (double)(clock->time_ns[i] - clock->time_ns[0]) / count;
		bytes += (double)level->bytes[i] / count;
	}
	for (uint32_t i = 0; i < clock->count; i++) {
		double off = (double)(clock->time_ns[i] - clock->time_ns[0]) - time;

		spread += off * off;
		product += off * ((double)level->bytes[i] - bytes);
	}
	return spread > 0 ? product / spread * 60e9 : 0;
}

uint32_t growth_look_after(const struct growth_clock *clock, uint64_t time_ns)
{
	uint32_t low = 0, high = clock->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (clock->time_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t growth_survived(const struct growth_clock *clock, const int64_t born[GROWTH_POINTS + 1])
{
	int64_t all = 0, older = 0;

	for (uint32_t i = 0; i <= clock->count; i++)
		all += born[i];
	for (uint32_t i = 0; i < clock->count; i++) {
		older += born[i];
		/* Those before the look may have been counted before the bytes were there. */
		if (all && 2 * older >= all)
			return clock->collections[clock->count - 1] - clock->collections[i];
	}
	return 0;
}
