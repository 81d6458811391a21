/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_head.h"

#define HEADER_SIZE   68
#define METADATA_MAX  (64u << 20) /* real ones have 110 KB */
#define NOTICES_MAX   20	  /* then they are only counted */
#define SAME_CLOCK_NS 1000000

/*
 * Of a packed recording: what is needed at once, the chunk of a JVM up to its metadata at most; and
 * what is kept of a chunk, which takes several times its size. More is there when as many bytes are
 * packed: real ones have a quarter of what they unpack to.
 */
#define PACKED_WINDOW_MAX (24u << 20)
#define PACKED_KEPT_MAX	  (8u << 20)

struct reader {
	struct jfr_input *in;
	const struct jfr_visitor *visitor;
	void *ctx;
	struct jfr_result *result;
	struct jfr_chunk chunk;
	int64_t clock_ns, clock_ticks; /* of the chunk before */
	double ticks_per_ns;
	uint64_t chunk_end;	   /* offset; UINT64_MAX: as far as bytes come */
	bool metadata_is_the_last; /* it is the one the header points to */
	unsigned int notices;
	uint8_t *late; /* owned; the want and the bytes of each late event */
	size_t late_len;
	size_t late_capacity;
	int err; /* that ends everything: -ENOMEM */
};

/*
 * The number of its want stands before a late event in the buffer, and nothing else: events may
 * have two bytes. The numbers of types may change until it is read, and so its head is read again.
 */
#define LATE_WANT sizeof(uint16_t)

/* ---- notices */

static void notice(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void notice(struct reader *r, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (r->notices++ >= NOTICES_MAX || !r->visitor->on_notice)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	r->visitor->on_notice(r->ctx, text);
}

static void last_notice(struct reader *r)
{
	char text[64];

	if (r->notices <= NOTICES_MAX || !r->visitor->on_notice)
		return;
	snprintf(text, sizeof(text), "%u more of such lines", r->notices - NOTICES_MAX);
	r->visitor->on_notice(r->ctx, text);
}

/* Whether these bytes may be kept beside those that are. */
static bool may_keep(const struct reader *r, uint64_t size)
{
	uint64_t packed = jfr_input_packed(r->in);
	uint64_t kept = r->late_len + r->chunk.constants.len + size;

	return kept <= PACKED_KEPT_MAX || kept - PACKED_KEPT_MAX <= packed;
}

static uint64_t left_in_chunk(const struct reader *r)
{
	return r->chunk_end - r->in->offset;
}

/* ---- the header of a chunk */

/*
 * A JVM reads its tick counter and the time of day one after the other, and so the headers of its
 * chunks differ by some 100 ns. One clock for all of its chunks gives the times that the JDK's own
 * reader gives, and spans across chunks that are right. A clock that was set, or that of another
 * JVM, differs by more.
 */
static void keep_clock(struct reader *r)
{
	struct jfr_chunk *chunk = &r->chunk;
	double ticks = (double)(int64_t)((uint64_t)chunk->clock_ticks - (uint64_t)r->clock_ticks);
	double since = (double)(int64_t)((uint64_t)chunk->start_ns - (uint64_t)r->clock_ns);

	if (r->ticks_per_ns == chunk->ticks_per_ns &&
	    fabs(ticks / chunk->ticks_per_ns - since) < SAME_CLOCK_NS) {
		chunk->clock_ns = r->clock_ns;
		chunk->clock_ticks = r->clock_ticks;
	}
	r->clock_ns = chunk->clock_ns;
	r->clock_ticks = chunk->clock_ticks;
	r->ticks_per_ns = chunk->ticks_per_ns;
}

static void read_clock(struct reader *r, const uint8_t *header)
{
	struct jfr_chunk *chunk = &r->chunk;
	int64_t hz = (int64_t)jfr_big_endian(header + 56, 8);

	chunk->start_ns = (int64_t)jfr_big_endian(header + 32, 8);
	chunk->duration_ns = (int64_t)jfr_big_endian(header + 40, 8);
	chunk->clock_ns = chunk->start_ns;
	chunk->clock_ticks = (int64_t)jfr_big_endian(header + 48, 8);
	if (hz <= 0) {
		notice(r,
		       "offset %" PRIu64
		       ": the chunk's clock has no rate: times are as if it were 1 GHz",
		       chunk->offset);
		hz = 1000000000;
	}
	chunk->ticks_per_ns = (double)hz / 1e9;
	keep_clock(r);
}

/* Where the chunk ends: as the header says, but never behind the file. */
static void find_end(struct reader *r)
{
	const struct jfr_chunk *chunk = &r->chunk;
	uint64_t left = r->in->size - chunk->offset;

	r->chunk_end = chunk->offset + chunk->size;
	if (chunk->size < HEADER_SIZE || chunk->size > INT64_MAX) {
		notice(r, "offset %" PRIu64 ": the chunk has no size yet: it was being written",
		       chunk->offset);
		r->result->unfinished = true;
		r->chunk_end = r->in->size;
	} else if (r->in->size != UINT64_MAX && chunk->size > left) {
		notice(r,
		       "offset %" PRIu64 ": the chunk has %" PRIu64 " bytes, %" PRIu64 " are there",
		       chunk->offset, chunk->size, left);
		r->result->unfinished = true;
		r->chunk_end = r->in->size;
	}
	if (chunk->state) {
		notice(r, "offset %" PRIu64 ": the chunk is unfinished: it was being written",
		       chunk->offset);
		r->result->unfinished = true;
	}
}

/* Returns 0, -ENOENT at the end, -EBADMSG when here is no chunk. */
static int read_header(struct reader *r)
{
	struct jfr_input *in = r->in;
	size_t have = jfr_input_need(in, HEADER_SIZE);
	const uint8_t *header = in->at;
	uint64_t major;

	if (!have)
		return -ENOENT;
	r->chunk.offset = in->offset;
	if (have < HEADER_SIZE || memcmp(header, "FLR\0", 4) != 0)
		return -EBADMSG;
	major = jfr_big_endian(header + 4, 2);
	if (major < 1 || major > 2) {
		r->result->refusal = "a JFR recording in a version of the format that is not known";
		return -EBADMSG;
	}
	r->chunk.size = jfr_big_endian(header + 8, 8);
	r->chunk.state = header[64];
	r->chunk.is_last = header[67] & 2;
	read_clock(r, header);
	find_end(r);
	return 0;
}

/* ---- metadata */

/* The bytes of the event that lies distance behind the input's place, when it is metadata. */
static uint8_t *metadata_at(struct reader *r, uint64_t distance, size_t *size)
{
	uint8_t start[JFR_HEAD_MAX];
	size_t have = jfr_input_peek(r->in, distance, start, sizeof(start));
	struct jfr_head head = jfr_head_at(start, have);
	uint8_t *bytes;

	if (head.type || head.size <= head.len || head.size > METADATA_MAX ||
	    distance + head.size > left_in_chunk(r))
		return NULL;
	bytes = malloc(head.size);
	if (!bytes)
		return NULL;
	*size = jfr_input_peek(r->in, distance, bytes, head.size);
	if (*size == head.size)
		return bytes;
	free(bytes);
	return NULL;
}

/* How far behind the input's place the next metadata event is; 0 when there is none. */
static uint64_t search_metadata(struct reader *r)
{
	struct jfr_input *in = r->in;
	uint64_t distance = HEADER_SIZE;

	while (distance < left_in_chunk(r)) {
		size_t have = jfr_input_need(in, distance + JFR_HEAD_MAX);
		struct jfr_head head;

		if (have <= distance)
			break;
		head = jfr_head_at(in->at + distance, have - distance);
		if (head.size < head.len || head.size > left_in_chunk(r) - distance)
			break;
		if (!head.type)
			return distance;
		distance += head.size;
	}
	return 0;
}

static int open_with(struct reader *r, uint64_t distance)
{
	size_t size = 0;
	uint8_t *bytes = metadata_at(r, distance, &size);
	int err = -EBADMSG;

	if (bytes)
		err = jfr_chunk_open(&r->chunk, bytes, size, r->visitor->wants,
				     r->visitor->want_count);
	free(bytes);
	return err;
}

/* The metadata the header points to is the last and has all types; others are searched for. */
static int open_chunk(struct reader *r)
{
	uint64_t distance = 0;
	int err = -EBADMSG;

	if (jfr_input_need(r->in, HEADER_SIZE) >= HEADER_SIZE)
		distance = jfr_big_endian(r->in->at + 24, 8);
	r->metadata_is_the_last = false;
	if (distance >= HEADER_SIZE && distance < left_in_chunk(r))
		err = open_with(r, distance);
	r->metadata_is_the_last = !err;
	if (err == -EBADMSG) {
		distance = search_metadata(r);
		if (distance)
			err = open_with(r, distance);
	}
	return err;
}

/* ---- events */

static int keep_late(struct reader *r, uint32_t want, const uint8_t *event, size_t size)
{
	size_t len = r->late_len + LATE_WANT + size;
	uint16_t number = (uint16_t)want;

	if (!may_keep(r, size)) {
		r->result->events_damaged++;
		return 0;
	}
	if (len > r->late_capacity) {
		size_t capacity = len + len / 2;
		uint8_t *larger = realloc(r->late, capacity);

		if (!larger)
			return -ENOMEM;
		r->late = larger;
		r->late_capacity = capacity;
	}
	memcpy(r->late + r->late_len, &number, LATE_WANT);
	memcpy(r->late + r->late_len + LATE_WANT, event, size);
	r->late_len = len;
	return 0;
}

static void deliver(struct reader *r, const struct jfr_wanted *wanted, const uint8_t *event,
		    const struct jfr_head *head)
{
	struct cursor c = cursor_of(event + head->len, (size_t)head->size - head->len);
	struct jfr_item item;

	item.chunk = &r->chunk;
	item.slots = wanted->slots;
	item.type = wanted->type;
	item.size = (uint32_t)head->size;
	jfr_plan_run(&r->chunk.plans, wanted->plan, &c, item.values);
	if (c.failed)
		r->result->events_damaged++;
	else
		r->visitor->wants[wanted->want].on_event(r->ctx, &item);
}

static void deliver_late(struct reader *r, bool last)
{
	struct jfr_chunk *chunk = &r->chunk;

	for (size_t at = 0; at < r->late_len;) {
		struct jfr_head head;
		uint32_t type, place;
		uint16_t want;

		memcpy(&want, r->late + at, LATE_WANT);
		at += LATE_WANT;
		head = jfr_head_at(r->late + at, r->late_len - at);
		type = jfr_chunk_type(chunk, head.type);
		place = type ? chunk->want_of[type - 1] : 0;
		while (place && chunk->wanted[place - 1].want != want)
			place = chunk->wanted[place - 1].next;
		if (place && chunk->wants[want].last == last)
			deliver(r, &chunk->wanted[place - 1], r->late + at, &head);
		at += head.size;
	}
}

static void take_event(struct reader *r, uint32_t type, const struct jfr_head *head,
		       const uint8_t *event)
{
	const struct jfr_chunk *chunk = &r->chunk;

	if (head->size > UINT32_MAX) {
		r->result->events_damaged++;
		return;
	}
	for (uint32_t at = chunk->want_of[type]; at && !r->err; at = chunk->wanted[at - 1].next) {
		const struct jfr_wanted *wanted = &chunk->wanted[at - 1];

		if (chunk->wants[wanted->want].late)
			r->err = keep_late(r, wanted->want, event, (size_t)head->size);
		else
			deliver(r, wanted, event, head);
	}
}

static void take_checkpoint(struct reader *r, const struct jfr_head *head)
{
	const char *why = "damaged constants";
	int err = -E2BIG;

	if (may_keep(r, head->size))
		err = jfr_chunk_checkpoint(&r->chunk, r->in->at, (size_t)head->size);
	if (!err)
		return;
	if (err == -ENOMEM) {
		r->err = err;
		return;
	}
	if (err == -E2BIG)
		why = "more constants than a recording has";
	notice(r, "offset %" PRIu64 ": %s: some names are missing", r->in->offset, why);
	r->result->constants_damaged++;
}

static bool is_update(const struct reader *r)
{
	return !r->metadata_is_the_last && r->chunk.metadata_count;
}

/* Whether somebody needs the event's bytes. type is its number + 1. */
static bool is_needed(const struct reader *r, const struct jfr_head *head, uint32_t type)
{
	if (head->type == 0)
		return is_update(r);
	if (head->type == 1)
		return r->visitor->want_count;
	return type && r->chunk.want_of[type - 1];
}

/* Takes an event whose bytes are needed. Whether they are there. */
static bool take_whole(struct reader *r, const struct jfr_head *head, uint32_t type)
{
	if (jfr_input_need(r->in, head->size) < head->size)
		return false;
	if (head->type == 1)
		take_checkpoint(r, head);
	else if (head->type > 1)
		take_event(r, type - 1, head, r->in->at);
	else if (jfr_chunk_update(&r->chunk, r->in->at, (size_t)head->size) == -ENOMEM)
		r->err = -ENOMEM;
	return true;
}

/* The end of a chunk that is not its true end. */
static void end_early(struct reader *r, const char *why)
{
	notice(r, "offset %" PRIu64 ": %s: the rest of the chunk is lost", r->in->offset, why);
	r->chunk_end = r->chunk_end == UINT64_MAX ? r->in->offset : r->chunk_end;
}

static void count_event(struct reader *r, const struct jfr_head *head, uint32_t type)
{
	struct jfr_chunk *chunk = &r->chunk;

	if (head->type > 1)
		r->result->events++;
	if (head->type == 0) {
		chunk->metadata_count++;
		chunk->metadata_bytes += head->size;
	} else if (head->type == 1) {
		chunk->checkpoint_count++;
		chunk->checkpoint_bytes += head->size;
	} else if (type) {
		chunk->schema.types[type - 1].count++;
		chunk->schema.types[type - 1].bytes += head->size;
	}
}

/* Takes or steps over one event. false at the end of what can be read of the chunk. */
static bool one_event(struct reader *r)
{
	struct jfr_input *in = r->in;
	uint64_t left = left_in_chunk(r);
	size_t have = jfr_input_need(in, JFR_HEAD_MAX);
	struct jfr_head head = jfr_head_at(in->at, have < left ? have : (size_t)left);
	uint32_t type;

	if (!have) {
		if (r->chunk_end != UINT64_MAX)
			end_early(r, "the bytes end here");
		return false;
	}
	if (head.size < head.len || !head.size) {
		end_early(r, "an event of size 0");
		return false;
	}
	if (head.size > left) {
		end_early(r, "an event that is larger than the rest of its chunk");
		return false;
	}
	type = jfr_chunk_type(&r->chunk, head.type);
	if (is_needed(r, &head, type) && !take_whole(r, &head, type)) {
		end_early(r, "the bytes end inside an event");
		return false;
	}
	if (jfr_input_skip(in, head.size) < head.size) {
		end_early(r, "the bytes end inside an event");
		return false;
	}
	count_event(r, &head, type);
	return !r->err;
}

/*
 * The loop that nearly all events of a file go through: those that are in the window as a whole.
 * Ends before any other.
 */
static void read_window(struct reader *r)
{
	struct jfr_input *in = r->in;
	struct jfr_chunk *chunk = &r->chunk;
	const uint8_t *at = in->at;
	const uint8_t *end = in->end;
	uint64_t events = 0;

	if (left_in_chunk(r) < (uint64_t)(end - at))
		end = at + left_in_chunk(r);
	while (end - at >= (ptrdiff_t)JFR_HEAD_MAX && !r->err) {
		struct jfr_schema_type *type;
		struct jfr_head head;
		uint32_t number;

		if (!jfr_short_head(at, &head))
			head = jfr_head_at(at, (size_t)(end - at));
		number = head.type < JFR_DIRECT_TYPES ? chunk->direct[head.type] : 0;
		if (!number || head.size > (uint64_t)(end - at) || head.size < head.len)
			break;
		if (chunk->want_of[number - 1])
			take_event(r, number - 1, &head, at);
		type = &chunk->schema.types[number - 1];
		type->count++;
		type->bytes += head.size;
		events++;
		at += head.size;
	}
	r->result->events += events;
	in->offset += (uint64_t)(at - in->at);
	in->at = at;
}

static void read_events(struct reader *r)
{
	do
		read_window(r);
	while (!r->err && left_in_chunk(r) && one_event(r));
}

/* ---- chunks */

/* What is left of a chunk that could not be read to its end. */
static void skip_rest(struct reader *r)
{
	uint64_t left = left_in_chunk(r);

	if (left)
		r->result->bytes_lost += jfr_input_skip(r->in, left);
}

static void read_chunk(struct reader *r)
{
	int err = open_chunk(r);

	if (err == -ENOMEM) {
		r->err = err;
		return;
	}
	if (err) {
		notice(r,
		       "offset %" PRIu64 ": the chunk has no metadata that can be read: it is lost",
		       r->chunk.offset);
		skip_rest(r);
		return;
	}
	jfr_input_skip(r->in, HEADER_SIZE);
	if (r->visitor->on_chunk)
		r->visitor->on_chunk(r->ctx, &r->chunk);
	read_events(r);
	deliver_late(r, false);
	deliver_late(r, true);
	r->late_len = 0;
	if (r->visitor->on_chunk_end && !r->err)
		r->visitor->on_chunk_end(r->ctx, &r->chunk);
	jfr_chunk_close(&r->chunk);
	skip_rest(r);
}

/* What stands where a chunk should: nothing that can be read, up to the end. */
static int no_chunk(struct reader *r)
{
	uint64_t offset = r->in->offset;
	uint64_t lost = jfr_input_skip(r->in, UINT64_MAX);

	r->result->bytes_lost += lost;
	if (r->result->chunks) {
		notice(r,
		       "offset %" PRIu64 ": no chunk begins here: %" PRIu64 " bytes are not read",
		       offset, lost);
		return 0;
	}
	if (!r->result->refusal)
		r->result->refusal = lost ? "not a JFR recording" : "the file is empty";
	return -EBADMSG;
}

int jfr_each_event(struct jfr_input *in, const struct jfr_visitor *visitor, void *ctx,
		   struct jfr_result *result)
{
	struct reader r = { .in = in, .visitor = visitor, .ctx = ctx, .result = result };
	int err = 0;

	*result = (struct jfr_result){ 0 };
	jfr_input_limit(in, PACKED_WINDOW_MAX);
	while (!r.err) {
		r.chunk = (struct jfr_chunk){ 0 };
		err = read_header(&r);
		if (err)
			break;
		result->chunks++;
		read_chunk(&r);
	}
	if (!r.err && (err == -EBADMSG || !result->chunks))
		err = no_chunk(&r);
	else
		err = r.err;
	if (!err && in->err) {
		notice(&r, "offset %" PRIu64 ": %s", in->offset, jfr_input_strerror(in->err));
		result->unfinished = true;
		if (in->err == -ENOMEM || !result->chunks)
			err = in->err;
	}
	if (result->events_damaged)
		notice(&r, "%" PRIu64 " events could not be read", result->events_damaged);
	last_notice(&r);
	free(r.late);
	return err;
}
