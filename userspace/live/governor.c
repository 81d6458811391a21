/* SPDX-License-Identifier: Apache-2.0 */
#include "live/governor.h"

#define SLICE_MIN_NS	 10000000.0
#define SLICE_MAX_NS	 1000000000.0
#define ATTACH_NS	 20000000.0 /* probes also cost while they are put in and taken out */
#define SAMPLED_WORK	 1.3	    /* what looking at a call takes, beside the trap */
#define SAFE		 0.7	    /* so much of the limit is used by plan */
#define SLICE_PART	 0.1	    /* of what a window may cost is for a slice, by plan */
#define LOW		 0.5	    /* below this part of it more may be recorded again */
#define SETTLE_NS	 500000000ull
#define CHEAP_NS	 10000000000ull
#define CHEAP_SLICES	 3
#define COUNTERS_WINDOWS 2.0 /* a slice that costs so many windows has no stacks any more */
#define DETACHED_WINDOWS 8.0 /* and with so many there is none */
#define DETACHED_NS	 60000000000ull
#define POINT_NS	 (GOVERNOR_WINDOW_NS / (GOVERNOR_POINTS - 8))

static double account_max(const struct governor *g)
{
	return g->limit * (double)GOVERNOR_WINDOW_NS;
}

/* Cost per time if the hits from one moment to another were only looked at, not booked. */
static double sampled_rate(const struct governor_input *from, const struct governor_input *to)
{
	double time = (double)(to->now_ns - from->now_ns);

	return time > 0 ? (double)(to->hits - from->hits) * to->trap_ns * SAMPLED_WORK / time : 0;
}

static double cost_rate(const struct governor_input *from, const struct governor_input *to)
{
	double time = (double)(to->now_ns - from->now_ns);

	return time > 0 ? (double)(to->cost_ns - from->cost_ns) / time : 0;
}

/* The oldest point that is not older than so much. */
static const struct governor_input *point_since(const struct governor *g, uint64_t span_ns)
{
	const struct governor_input *oldest = &g->last;
	uint32_t first = g->point_count > GOVERNOR_POINTS ? g->point_count - GOVERNOR_POINTS : 0;

	for (uint32_t i = g->point_count; i > first; i--) {
		const struct governor_input *point = &g->points[(i - 1) % GOVERNOR_POINTS];

		if (point->now_ns + span_ns < g->last.now_ns)
			break;
		oldest = point;
	}
	return oldest;
}

void governor_start(struct governor *g, double limit_pct, const struct governor_input *input)
{
	*g = (struct governor){ .limit = limit_pct / 100, .attached = true, .last = *input };
	g->state = REC_NATIVE_EXACT;
	g->state_ns = input->now_ns;
	g->account_ns = account_max(g);
	g->points[g->point_count++] = *input;
}

static void go_to(struct governor *g, enum rec_native_state state, enum rec_budget_reason reason)
{
	g->state = state;
	g->reason = reason;
	g->state_ns = g->last.now_ns;
	g->cheap_slices = 0;
	g->attached = state == REC_NATIVE_EXACT || state == REC_NATIVE_SAMPLED;
}

/* What the first seconds cost above the limit is over: to save for it would hide what follows. */
static void forgive_start(struct governor *g)
{
	if (g->forgiven_ns || g->last.now_ns - g->state_ns > GOVERNOR_WINDOW_NS)
		return;
	g->forgiven_ns = g->last.now_ns;
	g->account_ns = 0;
}

static void look_at_exact(struct governor *g)
{
	const struct governor_input *from = point_since(g, 1000000000);

	if (g->account_ns >= 0)
		return;
	g->slice_rate = sampled_rate(from, &g->last);
	forgive_start(g);
	go_to(g, g->slice_rate < SAFE * g->limit ? REC_NATIVE_SAMPLED : REC_NATIVE_SLICES,
	      REC_BUDGET_OVER);
}

static void look_at_sampled(struct governor *g)
{
	uint64_t in_state_ns = g->last.now_ns - g->state_ns;
	const struct governor_input *from;

	from = point_since(g, in_state_ns < CHEAP_NS ? in_state_ns : CHEAP_NS);
	if (g->account_ns < 0 && in_state_ns > SETTLE_NS && cost_rate(from, &g->last) > g->limit) {
		g->slice_rate = cost_rate(from, &g->last);
		go_to(g, REC_NATIVE_SLICES, REC_BUDGET_OVER);
	} else if (in_state_ns > CHEAP_NS && g->account_ns >= LOW * account_max(g) &&
		   cost_rate(from, &g->last) < LOW * LOW * g->limit) {
		go_to(g, REC_NATIVE_EXACT, REC_BUDGET_CHEAP);
	}
}

/* What the shortest slice costs. */
static double least_slice(const struct governor *g)
{
	return g->slice_rate * (SLICE_MIN_NS + ATTACH_NS);
}

static void end_slice(struct governor *g)
{
	double rate = sampled_rate(&g->at_slice, &g->last);

	g->slice_rate = cost_rate(&g->at_slice, &g->last);
	g->attached = false;
	g->cheap_slices = rate < LOW * g->limit ? g->cheap_slices + 1 : 0;
	if (g->cheap_slices >= CHEAP_SLICES)
		go_to(g, REC_NATIVE_SAMPLED, REC_BUDGET_CHEAP);
	else if (least_slice(g) > DETACHED_WINDOWS * account_max(g))
		go_to(g, REC_NATIVE_DETACHED, REC_BUDGET_SLICE);
	else if (least_slice(g) > COUNTERS_WINDOWS * account_max(g) &&
		 g->state == REC_NATIVE_SLICES)
		go_to(g, REC_NATIVE_COUNTERS, REC_BUDGET_SLICE);
}

/* By what was before it alone: one that ended as soon as it saw much would tell of too much. */
static uint64_t slice_length(const struct governor *g)
{
	double can = SLICE_MAX_NS;

	if (g->slice_rate > 0)
		can = SLICE_PART * account_max(g) / g->slice_rate - ATTACH_NS;
	if (can > SLICE_MAX_NS)
		can = SLICE_MAX_NS;
	return (uint64_t)(can < SLICE_MIN_NS ? SLICE_MIN_NS : can);
}

/* Whether the mean of a window would be above the limit; what began with all is not asked. */
static bool is_spent(const struct governor *g, uint64_t slice_ns)
{
	uint64_t span_ns = g->last.now_ns - g->forgiven_ns;
	const struct governor_input *from;

	from = point_since(g, span_ns < GOVERNOR_WINDOW_NS ? span_ns : GOVERNOR_WINDOW_NS);
	return (double)(g->last.cost_ns - from->cost_ns) + g->slice_rate * (double)slice_ns >
	       account_max(g);
}

static bool may_begin_slice(const struct governor *g)
{
	double saved = SAFE * account_max(g), needed = least_slice(g);

	/* One that costs more than can be saved is made all the same, on credit. */
	if (needed > saved)
		return g->account_ns >= saved;
	return g->account_ns >= needed && g->account_ns >= saved / 2 &&
	       !is_spent(g, slice_length(g));
}

static void look_at_slices(struct governor *g)
{
	if (g->attached) {
		if (g->last.now_ns - g->slice_ns >= g->length_ns || g->account_ns < 0)
			end_slice(g);
		return;
	}
	if (!may_begin_slice(g))
		return;
	g->attached = true;
	g->slice_ns = g->last.now_ns;
	g->length_ns = slice_length(g);
	g->at_slice = g->last;
}

static void look_at_detached(struct governor *g)
{
	if (g->last.now_ns - g->state_ns < DETACHED_NS)
		return;
	/* One look, which may be dear. */
	go_to(g, REC_NATIVE_COUNTERS, REC_BUDGET_RETRY);
}

/* What is looked at more often, in slices, would push out points that are in the window. */
static void keep_point(struct governor *g)
{
	const struct governor_input *newest = &g->points[(g->point_count - 1) % GOVERNOR_POINTS];

	if (g->last.now_ns - newest->now_ns >= POINT_NS)
		g->points[g->point_count++ % GOVERNOR_POINTS] = g->last;
}

void governor_look(struct governor *g, const struct governor_input *input)
{
	double most = account_max(g);

	g->account_ns += g->limit * (double)(input->now_ns - g->last.now_ns) -
			 (double)(input->cost_ns - g->last.cost_ns);
	if (g->account_ns > most)
		g->account_ns = most;
	/* What was overdrawn before the window is over and done. */
	if (g->account_ns < -most)
		g->account_ns = -most;
	g->last = *input;
	keep_point(g);
	if (!(g->limit > 0))
		return;
	switch (g->state) {
	case REC_NATIVE_EXACT:
		look_at_exact(g);
		break;
	case REC_NATIVE_SAMPLED:
		look_at_sampled(g);
		break;
	case REC_NATIVE_SLICES:
	case REC_NATIVE_COUNTERS:
		look_at_slices(g);
		break;
	case REC_NATIVE_DETACHED:
		look_at_detached(g);
		break;
	case REC_NATIVE_STATE_NR:
		break;
	}
}

double governor_cost_pct(const struct governor *g)
{
	return 100 * cost_rate(point_since(g, GOVERNOR_WINDOW_NS), &g->last);
}
