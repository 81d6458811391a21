/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is wanted, in the terms of this chunk */

/* The constants of a type may be asked for, and so may those they refer to. */
static void keep_type(struct jfr_chunk *chunk, uint32_t type, int depth)
{
	const struct jfr_schema_type *t;

	/* Depth: a chain of types that is longer is none that anybody follows. */
	if (type == JFR_NO_TYPE || chunk->keep[type] || depth > 16)
		return;
	chunk->keep[type] = true;
	t = &chunk->schema.types[type];
	for (uint32_t i = 0; i < t->field_count; i++)
		keep_type(chunk, chunk->schema.fields[t->first_field + i].type, depth + 1);
}

static size_t count_fields(const struct jfr_want *want)
{
	size_t count = 0;

	while (count < JFR_WANT_FIELDS && want->fields[count])
		count++;
	return count;
}

static void open_wanted(struct jfr_chunk *chunk, size_t place, uint32_t number, uint32_t type)
{
	const struct jfr_want *want = &chunk->wants[number];
	struct jfr_wanted *wanted = &chunk->wanted[place];

	*wanted = (struct jfr_wanted){ .want = number, .type = type, .plan = JFR_PLAN_NONE };
	if (type == JFR_NO_TYPE)
		return;
	wanted->plan =
		jfr_plan_take(&chunk->plans, type, want->fields, count_fields(want), wanted->slots);
	keep_type(chunk, type, 0);
	if (wanted->plan == JFR_PLAN_NONE) {
		memset(wanted->slots, 0, sizeof(wanted->slots));
	} else if (want->on_event) {
		wanted->next = chunk->want_of[type];
		chunk->want_of[type] = (uint32_t)(place + 1);
	}
}

static bool is_any(const struct jfr_want *want)
{
	return !strcmp(want->type, JFR_ANY_EVENT);
}

static int open_wants(struct jfr_chunk *chunk)
{
	size_t any = 0, place = chunk->want_count;

	for (size_t i = 0; i < chunk->want_count; i++)
		any += is_any(&chunk->wants[i]);
	chunk->wanted_count = place + any * chunk->schema.count;
	chunk->wanted = calloc(chunk->wanted_count + 1, sizeof(*chunk->wanted));
	if (!chunk->wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < chunk->want_count; i++) {
		const struct jfr_want *want = &chunk->wants[i];

		open_wanted(chunk, i, i, jfr_schema_by_name(&chunk->schema, want->type));
		for (uint32_t t = 0; is_any(want) && t < chunk->schema.count; t++, place++) {
			if (chunk->schema.types[t].is_event)
				open_wanted(chunk, place, i, t);
		}
	}
	return 0;
}

/* What stands for a constant: its only field, its name, or for threads the Java name if any. */
static void open_text(struct jfr_chunk *chunk, uint32_t type)
{
	static const char *const name[] = { "name" };
	static const char *const thread[] = { "javaName", "osName" };
	const struct jfr_schema *schema = &chunk->schema;
	const struct jfr_schema_type *t = &schema->types[type];
	struct jfr_slot *slots = chunk->text_slots[type];
	uint32_t plan = JFR_PLAN_NONE;
	const char *only;

	if (t->is_simple) {
		only = jfr_schema_field_name(schema, &schema->fields[t->first_field]);
		plan = jfr_plan_take(&chunk->plans, type, &only, 1, slots);
	} else if (jfr_schema_field(schema, type, name[0], strlen(name[0]))) {
		plan = jfr_plan_take(&chunk->plans, type, name, 1, slots);
	} else if (jfr_schema_field(schema, type, thread[0], strlen(thread[0]))) {
		plan = jfr_plan_take(&chunk->plans, type, thread, 2, slots);
	}
	chunk->texts[type] = plan == JFR_PLAN_NONE ? 0 : plan + 1;
}

static void index_types(struct jfr_chunk *chunk)
{
	memset(chunk->direct, 0, sizeof(chunk->direct));
	for (uint32_t i = 0; i < chunk->schema.count; i++) {
		int64_t id = chunk->schema.types[i].id;

		/* Metadata and checkpoints are events that no type is declared of. */
		if (id > 1 && id < JFR_DIRECT_TYPES)
			chunk->direct[id] = (uint16_t)(i + 1);
	}
}

/* Everything that follows from schema, but for the constants. */
static int open_types(struct jfr_chunk *chunk)
{
	size_t count = (size_t)chunk->schema.count + 1;

	chunk->plans = (struct jfr_plans){ .schema = &chunk->schema };
	chunk->want_of = calloc(count, sizeof(*chunk->want_of));
	chunk->keep = calloc(count, sizeof(*chunk->keep));
	chunk->texts = calloc(count, sizeof(*chunk->texts));
	chunk->text_slots = calloc(count, sizeof(*chunk->text_slots));
	if (!chunk->want_of || !chunk->keep || !chunk->texts || !chunk->text_slots ||
	    open_wants(chunk))
		return -ENOMEM;
	index_types(chunk);
	chunk->string_type = jfr_schema_by_name(&chunk->schema, "java.lang.String");
	if (chunk->string_type != JFR_NO_TYPE && chunk->want_count)
		chunk->keep[chunk->string_type] = true;
	for (uint32_t i = 0; i < chunk->schema.count; i++) {
		if (chunk->keep[i])
			open_text(chunk, i);
	}
	return chunk->plans.err;
}

static void close_types(struct jfr_chunk *chunk)
{
	jfr_plans_free(&chunk->plans);
	free(chunk->want_of);
	free(chunk->keep);
	free(chunk->texts);
	free(chunk->text_slots);
	free(chunk->wanted);
	chunk->want_of = NULL;
	chunk->keep = NULL;
	chunk->texts = NULL;
	chunk->text_slots = NULL;
	chunk->wanted = NULL;
}

int jfr_chunk_open(struct jfr_chunk *chunk, const void *metadata, size_t size,
		   const struct jfr_want *wants, size_t want_count)
{
	int err = jfr_schema_read(metadata, size, want_count > 0, &chunk->schema);

	if (err)
		return err;
	chunk->wants = wants;
	chunk->want_count = want_count;
	err = open_types(chunk);
	if (!err)
		err = jfr_constants_open(&chunk->plans, &chunk->constants);
	if (err)
		jfr_chunk_close(chunk);
	return err;
}

/* The types' numbers have changed: what is kept by number moves. */
static void move_to(const struct jfr_schema *old, const struct jfr_constants *old_constants,
		    struct jfr_chunk *chunk)
{
	struct jfr_constants *constants = &chunk->constants;

	for (uint32_t i = 0; i < old->count; i++) {
		uint32_t now = jfr_schema_by_id(&chunk->schema, old->types[i].id);

		if (now == JFR_NO_TYPE || constants->types[now].parts) {
			jfr_constants_free_type(&old_constants->types[i]);
			continue;
		}
		chunk->schema.types[now].count = old->types[i].count;
		chunk->schema.types[now].bytes = old->types[i].bytes;
		constants->types[now] = old_constants->types[i];
	}
	free(constants->bytes);
	constants->bytes = old_constants->bytes;
	constants->len = old_constants->len;
	constants->capacity = old_constants->capacity;
	free(old_constants->types);
}

int jfr_chunk_update(struct jfr_chunk *chunk, const void *metadata, size_t size)
{
	struct jfr_schema old = chunk->schema;
	struct jfr_constants old_constants = chunk->constants;
	struct jfr_schema schema;
	int err = jfr_schema_read(metadata, size, chunk->want_count > 0, &schema);

	if (err)
		return err;
	chunk->schema = schema;
	close_types(chunk);
	err = open_types(chunk);
	if (!err)
		err = jfr_constants_open(&chunk->plans, &chunk->constants);
	if (!err)
		move_to(&old, &old_constants, chunk);
	jfr_schema_free(&old);
	return err;
}

void jfr_chunk_close(struct jfr_chunk *chunk)
{
	jfr_constants_free(&chunk->constants);
	close_types(chunk);
	jfr_schema_free(&chunk->schema);
}

bool jfr_chunk_count(const struct jfr_chunk *chunk, uint32_t n, const char **name, uint64_t *count,
		     uint64_t *bytes)
{
	const struct jfr_schema_type *type;

	if (n < 2) {
		*name = n ? "jdk.Checkpoint" : "jdk.Metadata";
		*count = n ? chunk->checkpoint_count : chunk->metadata_count;
		*bytes = n ? chunk->checkpoint_bytes : chunk->metadata_bytes;
		return true;
	}
	if (n - 2 >= chunk->schema.count)
		return false;
	type = &chunk->schema.types[n - 2];
	*name = jfr_schema_type_name(&chunk->schema, n - 2);
	*count = type->count;
	*bytes = type->bytes;
	return true;
}

/* ---- checkpoints */

static int skip_pool(struct jfr_chunk *chunk, uint32_t plan, uint64_t count, struct cursor *c)
{
	while (count-- && !c->failed) {
		jfr_varint(c);
		jfr_plan_run(&chunk->plans, plan, c, NULL);
	}
	return 0;
}

static int read_pool(struct jfr_chunk *chunk, struct cursor *c)
{
	uint32_t type = jfr_schema_by_id(&chunk->schema, (int64_t)jfr_varint(c));
	uint64_t count = jfr_varint(c);
	uint32_t plan = JFR_PLAN_NONE;
	int err;

	if (type != JFR_NO_TYPE)
		plan = jfr_plan_skip(&chunk->plans, type);
	if (chunk->plans.err)
		return chunk->plans.err;
	if (c->failed || plan == JFR_PLAN_NONE || count > cursor_left(c))
		return -EBADMSG;
	err = chunk->keep[type] ? jfr_constants_add(&chunk->constants, type, count, c)
				: skip_pool(chunk, plan, count, c);
	return !err && c->failed ? -EBADMSG : err;
}

int jfr_chunk_checkpoint(struct jfr_chunk *chunk, const void *event, size_t size)
{
	struct cursor c = cursor_of(event, size);
	uint64_t count;
	int err = 0;

	jfr_skip_varints(&c, 5); /* size, type, start, duration, distance to the one before */
	cursor_u8(&c);		 /* what it is for */
	count = jfr_varint(&c);
	while (count-- && !err)
		err = c.failed ? -EBADMSG : read_pool(chunk, &c);
	return err;
}
