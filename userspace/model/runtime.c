/* SPDX-License-Identifier: Apache-2.0 */
#include "model/runtime.h"

#include <errno.h>
#include <stdlib.h>

#include "model/recording_impl.h"

struct rec_runtime {
	struct rec_rows threads;
	struct rec_rows compilations;
};

static const struct rec_runtime nothing = {
	.threads = { .row_size = sizeof(struct rec_thread_event),
		     .max = REC_MAX_THREAD_EVENTS,
		     .over_limit = "thread_events_over_limit" },
	.compilations = { .row_size = sizeof(struct rec_compilation),
			  .max = REC_MAX_COMPILATIONS,
			  .over_limit = "compilations_over_limit" },
};

static struct rec_runtime *runtime_of(struct recording *rec)
{
	if (rec->runtime)
		return rec->runtime;
	rec->runtime = malloc(sizeof(*rec->runtime));
	if (!rec->runtime) {
		rec->err = -ENOMEM;
		return NULL;
	}
	*rec->runtime = nothing;
	return rec->runtime;
}

void rec_runtime_free(struct rec_runtime *runtime)
{
	if (!runtime)
		return;
	free(runtime->threads.items);
	free(runtime->compilations.items);
	free(runtime);
}

uint32_t rec_thread_event(struct recording *rec, const struct rec_thread_event *event)
{
	struct rec_runtime *runtime = runtime_of(rec);
	struct rec_thread_event *row = runtime ? rec_rows_add(rec, &runtime->threads, 1) : NULL;

	if (!row)
		return 0;
	*row = *event;
	return runtime->threads.count;
}

const struct rec_thread_event *rec_thread_events(const struct recording *rec, size_t *count)
{
	*count = rec->runtime ? rec->runtime->threads.count : 0;
	return rec->runtime ? rec->runtime->threads.items : NULL;
}

uint32_t rec_compilation(struct recording *rec, const struct rec_compilation *compilation)
{
	struct rec_runtime *runtime = runtime_of(rec);
	struct rec_compilation *row = runtime ? rec_rows_add(rec, &runtime->compilations, 1) : NULL;

	if (!row)
		return 0;
	*row = *compilation;
	return runtime->compilations.count;
}

const struct rec_compilation *rec_compilations(const struct recording *rec, size_t *count)
{
	*count = rec->runtime ? rec->runtime->compilations.count : 0;
	return rec->runtime ? rec->runtime->compilations.items : NULL;
}

void rec_runtime_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
			    void *ctx)
{
	struct rec_thread_event *rows = rec->runtime ? rec->runtime->threads.items : NULL;

	for (uint32_t i = 0; rows && i < rec->runtime->threads.count; i++)
		if (rows[i].stack)
			rows[i].stack = change(rows[i].stack, ctx);
}

void rec_runtime_each_method(struct recording *rec, uint32_t (*change)(uint32_t method, void *ctx),
			     void *ctx)
{
	struct rec_compilation *rows = rec->runtime ? rec->runtime->compilations.items : NULL;

	for (uint32_t i = 0; rows && i < rec->runtime->compilations.count; i++)
		if (rows[i].method)
			rows[i].method = change(rows[i].method, ctx);
}
