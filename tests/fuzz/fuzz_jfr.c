/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_export.h"
#include "jfr/jfr_fill.h"

/* A recording: filled into the model, written again, and every event and constant looked at. */

static void on_any(void *ctx, const struct jfr_item *e)
{
	struct strbuf *text = ctx;

	for (unsigned int field = 0; field < 4; field++) {
		jfr_ns(e, field);
		jfr_decimal(e, field);
		jfr_text(e, field, text);
		FUZZ_ASSERT(strlen(strbuf_text(text)) <= text->len);
	}
}

static void on_chunk_end(void *ctx, const struct jfr_chunk *chunk)
{
	uint64_t count, bytes, events = 0;
	const char *name;

	for (uint32_t n = 0; jfr_chunk_count(chunk, n, &name, &count, &bytes); n++) {
		FUZZ_ASSERT(bytes >= count);
		events += count;
	}
	for (uint32_t type = 0; type < chunk->schema.count && type < 64; type++) {
		for (int64_t id = 0; id < 4; id++)
			jfr_constant_text(chunk, type, id, ctx);
	}
	FUZZ_ASSERT(events < UINT32_MAX);
}

static const struct jfr_want wants[] = {
	{ JFR_ANY_EVENT, { "startTime", "stackTrace", "duration", "name" }, on_any },
	{ JFR_ANY_EVENT, { "value", "sampledThread", "objectClass", "state" }, on_any, true },
};

static void look_at_all(const uint8_t *bytes, size_t size)
{
	struct strbuf text = { 0 };
	const struct jfr_visitor visitor = {
		.wants = wants,
		.want_count = sizeof(wants) / sizeof(wants[0]),
		.on_chunk_end = on_chunk_end,
	};
	struct jfr_result result;
	struct jfr_input in;

	jfr_input_memory(bytes, size, &in);
	jfr_each_event(&in, &visitor, &text, &result);
	FUZZ_ASSERT(result.bytes_lost <= size && result.events <= size);
	jfr_input_close(&in);
	strbuf_free(&text);
}

/* One in 64 inputs is written, too: that takes a hundred times as long as reading it. */
static bool is_written(const uint8_t *bytes, size_t size)
{
	uint32_t sum = (uint32_t)size;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + bytes[i];
	return (sum >> 8) % 64 == 0;
}

static void fill(const uint8_t *bytes, size_t size)
{
	const struct jfr_fill_options options = { .name = "fuzz", .keep_samples = true };
	struct recording *rec = rec_new();
	struct jfr_result result;
	struct jfr_input in;

	FUZZ_ASSERT(rec);
	jfr_input_memory(bytes, size, &in);
	jfr_fill(&in, &options, rec, &result);
	jfr_input_close(&in);
	if (is_written(bytes, size))
		fuzz_export(rec);
	rec_free(rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = fuzz_copy(bytes, size);

	log_set_level(LOG_LEVEL_ERROR);
	look_at_all(copy, size);
	fill(copy, size);
	free(copy);
	return 0;
}
