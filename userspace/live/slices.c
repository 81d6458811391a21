/* SPDX-License-Identifier: Apache-2.0 */
#include "live/slices.h"

#include <math.h>

/* Work goes on, but what probes cost of it is measured apart: the difference may run back. */
static double since(const struct slices *slices, uint64_t work_ns)
{
	double ns = (double)work_ns - slices->last_ns;

	return ns > 0 ? ns : 0;
}

void slices_start(struct slices *slices, uint64_t work_ns)
{
	slices->begun = true;
	slices->inside = false;
	slices->last_ns = (double)work_ns;
}

void slices_stop(struct slices *slices)
{
	slices->begun = slices->inside = false;
}

void slices_begin_one(struct slices *slices, uint64_t work_ns)
{
	slices->stretch_ns = since(slices, work_ns);
	slices->last_ns = (double)work_ns;
	slices->inside = true;
}

void slices_add_between(struct slices_sum *sum, double bytes)
{
	sum->more -= bytes;
}

/* Of a stretch and the slice that stands for it: both vary, the longer one less. */
static double weight_of(double stretch_ns, double seen_ns)
{
	return stretch_ns * (stretch_ns + seen_ns);
}

void slices_end_one(struct slices *slices, uint64_t work_ns, struct slice *one)
{
	one->seen_ns = since(slices, work_ns);
	one->stretch_ns = slices->stretch_ns;
	one->weight = 0;
	slices->inside = false;
	slices->last_ns = (double)work_ns;
	/* A target that slept: the next slice also stands for this stretch. */
	if (!(one->seen_ns > 0)) {
		slices->last_ns -= one->stretch_ns;
		return;
	}
	slices->weight += weight_of(one->stretch_ns, one->seen_ns);
	slices->seen_ns += one->seen_ns;
	slices->unseen_ns += one->stretch_ns;
	if (one->stretch_ns > slices->longest_ns)
		slices->longest_ns = one->stretch_ns;
	if (slices->count++) {
		one->weight = slices->weight;
		slices->weights += slices->weight;
		slices->weight = 0;
	}
}

void slices_add(struct slices_sum *sum, const struct slice *one, double bytes)
{
	double rate, step;

	if (!(one->seen_ns > 0)) {
		sum->more -= bytes;
		return;
	}
	rate = bytes / one->seen_ns;
	step = rate - sum->rate;
	sum->seen += bytes;
	sum->more += rate * one->stretch_ns;
	sum->squares += one->weight * step * step / 2;
	sum->rate = rate;
}

/* The stretch that no slice stands for yet. */
static double open_ns(const struct slices *slices, uint64_t work_ns)
{
	if (!slices->begun)
		return 0;
	return slices->inside ? slices->stretch_ns : since(slices, work_ns);
}

void slices_estimate(const struct slices *slices, const struct slices_sum *sum, uint64_t work_ns,
		     struct slices_estimate *out)
{
	double open = open_ns(slices, work_ns), known_ns = slices->seen_ns + slices->unseen_ns;
	double unseen_ns = slices->unseen_ns + open;
	double longest_ns = open > slices->longest_ns ? open : slices->longest_ns;
	double rate = known_ns > 0 ? (sum->seen + sum->more) / known_ns : 0;
	double mean_ns = slices->count ? slices->seen_ns / slices->count : 0, square = sum->squares;

	out->bytes = sum->more + rate * open;
	if (slices->weights > 0)
		square *= 1 + weight_of(open, mean_ns) / slices->weights;
	if (longest_ns * SLICES_STRETCH > unseen_ns)
		square += rate * longest_ns * rate * longest_ns;
	out->error = sqrt(square);
	if (slices->count >= SLICES_MIN)
		return;
	out->error = fmax(out->error, fmax(rate, sum->before) * unseen_ns);
}
