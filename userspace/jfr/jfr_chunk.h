/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_CHUNK_H
#define JVMSCOPE_JFR_CHUNK_H

#include "base/strbuf.h"
#include "jfr/jfr_constants.h"
#include "jfr/jfr_plan.h"
#include "jfr/jfr_schema.h"

/*
 * A chunk while it is read: its clock, its types, its constants, and what of them is wanted.
 *
 * Constants belong to the chunk: the same id means another thing in the next one, which may even be
 * of another JVM.
 */
#define JFR_WANT_FIELDS 24

struct jfr_item;

/*
 * A type somebody wants, with the names of the fields: "weight", and inside a structure
 * "heapSpace.committedSize". The list ends with NULL.
 *
 * Events of the type go to on_event while the chunk is read, when most constants are not known yet:
 * count by the ids and resolve them at the end of the chunk. With late set the event is kept until
 * then, which is meant for the few that say something once; with last behind all of those. Types of
 * constants and of array elements have no on_event. A type may be wanted more than once;
 * JFR_ANY_EVENT is every type of events.
 */
#define JFR_ANY_EVENT "*"

struct jfr_want {
	const char *type;
	const char *fields[JFR_WANT_FIELDS + 1];
	void (*on_event)(void *ctx, const struct jfr_item *event);
	bool late;
	bool last; /* late must be set, too */
};

/* A want in this chunk. */
struct jfr_wanted {
	uint32_t want;
	uint32_t type; /* JFR_NO_TYPE: not declared here */
	uint32_t plan; /* JFR_PLAN_NONE: cannot be read */
	uint32_t next; /* of the same type: place in wanted + 1 */
	struct jfr_slot slots[JFR_WANT_FIELDS];
};

#define JFR_DIRECT_TYPES 4096

struct jfr_chunk {
	uint64_t offset;  /* in the file */
	uint64_t size;	  /* as claimed by the header */
	int64_t start_ns; /* of the chunk itself */
	int64_t duration_ns;
	int64_t clock_ns; /* the moment of clock_ticks */
	int64_t clock_ticks;
	double ticks_per_ns;
	uint8_t state; /* 0: finished */
	bool is_last;  /* of its recording */

	struct jfr_schema schema;
	struct jfr_plans plans;
	struct jfr_constants constants;
	const struct jfr_want *wants;
	struct jfr_wanted *wanted; /* owned; [want], then those of JFR_ANY_EVENT by type */
	size_t want_count;
	size_t wanted_count;
	uint32_t *
		want_of; /* owned; [type]: place in wanted + 1 of the first that takes its events */
	bool *keep;	 /* owned; [type]: its constants may be asked for */
	uint32_t *texts; /* owned; [type]: plan + 1 of what stands for a constant as text */
	struct jfr_slot (*text_slots)[2]; /* owned; [type] */
	uint32_t string_type;
	uint16_t direct[JFR_DIRECT_TYPES]; /* [id]: number of the type + 1 */
	/* Those two are in no metadata. */
	uint64_t metadata_count, metadata_bytes, checkpoint_count, checkpoint_bytes;
};

/*
 * Opens the part that follows from a metadata event. The clock is the caller's. wants must live as
 * long as the chunk. Returns 0, -EBADMSG, -ENOMEM.
 */
int jfr_chunk_open(struct jfr_chunk *chunk, const void *metadata, size_t size,
		   const struct jfr_want *wants, size_t want_count);
/* Another metadata event of the same chunk: counts and constants stay. The same errors. */
int jfr_chunk_update(struct jfr_chunk *chunk, const void *metadata, size_t size);
void jfr_chunk_close(struct jfr_chunk *chunk);

/*
 * Keeps the constants of a checkpoint event, from its size field on. Returns 0, or -EBADMSG with
 * those before the damage kept, -E2BIG, -ENOMEM.
 */
int jfr_chunk_checkpoint(struct jfr_chunk *chunk, const void *event, size_t size);

/* Number of the type + 1, 0 for an id that is not declared. */
static inline uint32_t jfr_chunk_type(const struct jfr_chunk *chunk, uint64_t id)
{
	if (id < JFR_DIRECT_TYPES)
		return chunk->direct[id];
	return jfr_schema_by_id(&chunk->schema, (int64_t)id) + 1;
}

/* Events of each type, with metadata and checkpoints; false behind the last. */
bool jfr_chunk_count(const struct jfr_chunk *chunk, uint32_t n, const char **name, uint64_t *count,
		     uint64_t *bytes);

/* ---- items: an event, a constant, or an element of an array */

struct jfr_item {
	const struct jfr_chunk *chunk;
	const struct jfr_slot *slots;
	union jfr_value values[JFR_WANT_FIELDS];
	uint32_t type; /* number of an event's type in chunk->schema */
	uint32_t size; /* of an event: all its bytes */
};

/* field is the place in the want's list. What is not there is 0, or no text. */

static inline bool jfr_has(const struct jfr_item *item, unsigned int field)
{
	return item->slots[field].taken != JFR_TAKEN_NOTHING;
}

/* An integer, a boolean as 0 or 1, or the id of a constant. */
static inline int64_t jfr_number(const struct jfr_item *item, unsigned int field)
{
	enum jfr_taken taken = item->slots[field].taken;

	return taken == JFR_TAKEN_NUMBER || taken == JFR_TAKEN_REFERENCE
		       ? item->values[field].number
		       : 0;
}

double jfr_decimal(const struct jfr_item *item, unsigned int field);

/*
 * A moment as nanoseconds since the epoch, or a span in nanoseconds, as the field's annotation
 * says; a number without one is returned as it is. What does not fit is the nearest that does.
 */
int64_t jfr_ns(const struct jfr_item *item, unsigned int field);

/*
 * Empties to, and writes a string, or what stands for the constant that is referred to: the name of
 * a class or thread, the text of a cause. Whether there is one: null is not.
 */
bool jfr_text(const struct jfr_item *item, unsigned int field, struct strbuf *to);

/* ---- constants */

/* Reads a constant of the type of a want. Whether it is there. */
bool jfr_constant(const struct jfr_chunk *chunk, size_t want, int64_t id, struct jfr_item *out);

/* As jfr_text(), of a constant by its type's number. */
bool jfr_constant_text(const struct jfr_chunk *chunk, uint32_t type, int64_t id, struct strbuf *to);

/* The elements of an array, one after the other, as items of the type of a want. */
struct jfr_elements {
	const struct jfr_chunk *chunk;
	size_t want;
	struct cursor c;
	uint32_t left;
	uint32_t skip; /* plan: an element as a whole */
};
struct jfr_elements jfr_elements(const struct jfr_item *item, unsigned int field, size_t want);
bool jfr_next(struct jfr_elements *elements, struct jfr_item *out);

#endif
