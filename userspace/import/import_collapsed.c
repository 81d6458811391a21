/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "import/import_impl.h"
#include "model/names.h"

/* "root;...;leaf count", with the suffixes of --annotate where they are. */

#define LINE_MAX_BYTES (16u << 20)

struct lines {
	struct recording *rec;
	uint32_t *frames; /* owned; of one line */
	size_t capacity;
	struct strbuf normal, raw;
};

/* ---- frames */

static const struct {
	const char *suffix;
	enum rec_frame_kind kind;
} suffixes[] = {
	{ "_[0]", REC_FRAME_INTERPRETED }, { "_[1]", REC_FRAME_C1 },	 { "_[j]", REC_FRAME_C2 },
	{ "_[i]", REC_FRAME_INLINED },	   { "_[k]", REC_FRAME_KERNEL },
};
#define SUFFIX_LEN 4

/* The kind a suffix names, which is taken off; -1 without one. */
static int take_suffix(const char *text, size_t *len)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (*len <= SUFFIX_LEN ||
		    memcmp(text + *len - SUFFIX_LEN, suffixes[i].suffix, SUFFIX_LEN) != 0)
			continue;
		*len -= SUFFIX_LEN;
		return (int)suffixes[i].kind;
	}
	return -1;
}

/* ":123" at the end is taken off; -1 without it. */
static int32_t take_line(const char *text, size_t *len)
{
	size_t at = *len;
	int32_t line = 0;

	while (at && isdigit((unsigned char)text[at - 1]) && *len - at < 8)
		at--;
	if (at < 2 || at == *len || text[at - 1] != ':')
		return -1;
	for (size_t i = at; i < *len; i++)
		line = 10 * line + (text[i] - '0');
	*len = at - 1;
	return line;
}

/* Where the class ends: at the last dot of what looks like a Java method; 0 when it does not. */
static size_t class_end(const char *text, size_t len)
{
	size_t dot = 0;

	if (text[0] == '[' && (len < 2 || text[1] != 'L'))
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.')
			dot = i;
		if (strchr("(:* ", text[i]) && text[i])
			return 0;
	}
	/* "libc.so.6", "a.out": what follows the dot begins no method's name. */
	if (!dot || dot + 1 == len || isdigit((unsigned char)text[dot + 1]) ||
	    (len - dot == 3 && !memcmp(text + dot, ".so", 3)))
		return 0;
	return dot;
}

static uint32_t java_method(struct lines *l, const char *text, size_t len, size_t dot)
{
	struct rec_method method = { .name = rec_string(l->rec, text + dot + 1, len - dot - 1) };

	/* Slashes are the JVM's form of names; those with dots are kept as they are. */
	if (memchr(text, '/', dot)) {
		names_class(text, dot, &l->normal, &l->raw);
		method.class_name = rec_string(l->rec, strbuf_text(&l->normal), l->normal.len);
		if (l->raw.len)
			method.raw_class = rec_string(l->rec, l->raw.text, l->raw.len);
	} else {
		method.class_name = rec_string(l->rec, text, dot);
	}
	return rec_method(l->rec, &method);
}

static uint32_t make_frame(struct lines *l, const char *text, size_t len)
{
	struct rec_frame frame = { .line = -1, .bci = -1 };
	int kind = take_suffix(text, &len);
	size_t with_line = len;
	int32_t line = take_line(text, &len);
	size_t dot = class_end(text, len);

	if (dot && kind != REC_FRAME_KERNEL) {
		/* How it ran is not said: most samples are of compiled code. */
		frame.kind = kind < 0 ? REC_FRAME_C2 : (enum rec_frame_kind)kind;
		frame.line = line;
		frame.method = java_method(l, text, len, dot);
	} else {
		struct rec_method method = { 0 };

		method.name = rec_string(l->rec, text, with_line);
		if (kind == REC_FRAME_KERNEL)
			method.module = rec_string(l->rec, "[kernel]", strlen("[kernel]"));
		frame.kind = kind < 0 ? REC_FRAME_CPP : (enum rec_frame_kind)kind;
		frame.method = rec_method(l->rec, &method);
	}
	return rec_frame(l->rec, &frame);
}

/* ---- lines */

static int reserve(struct lines *l, size_t count)
{
	uint32_t *frames;

	if (count <= l->capacity)
		return 0;
	frames = reallocarray(l->frames, 2 * count, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	l->frames = frames;
	l->capacity = 2 * count;
	return 0;
}

/* The frames of a line, leaf first: those of the recording are so. */
static int split(struct lines *l, const char *text, size_t len, size_t *count)
{
	size_t end = len;

	*count = 0;
	for (;;) {
		size_t start = end;
		int err;

		while (start && text[start - 1] != ';')
			start--;
		err = reserve(l, *count + 1);
		if (err)
			return err;
		if (end > start)
			l->frames[(*count)++] = make_frame(l, text + start, end - start);
		if (!start)
			return 0;
		end = start - 1;
	}
}

/* Returns 0, -EBADMSG for a line without a count, -ENOMEM. */
static int take_text(struct lines *l, const char *text, size_t len)
{
	struct rec_key key = { .metric = REC_CPU };
	size_t space = len, frames;
	int64_t count = 0;
	int err;

	while (space && isdigit((unsigned char)text[space - 1]))
		space--;
	if (space < 2 || space == len || text[space - 1] != ' ' || len - space > 18 ||
	    memchr(text, 0, len))
		return -EBADMSG;
	for (size_t i = space; i < len; i++)
		count = 10 * count + (text[i] - '0');
	err = split(l, text, space - 1, &frames);
	if (err)
		return err;
	key.stack = rec_stack(l->rec, l->frames, frames, REC_STACK_COMPLETE);
	if (count > INT64_MAX / IMPORT_PERIOD_NS)
		return -EBADMSG;
	rec_add(l->rec, &key, count, count * IMPORT_PERIOD_NS);
	rec_quality_add(l->rec, REC_QUALITY_COMPLETE, "", (uint64_t)count);
	rec_meta(l->rec)->seen += (uint64_t)count;
	return 0;
}

/* The next line with its end, at in->at; its length, 0 behind the last. */
static size_t next_line(struct jfr_input *in)
{
	size_t looked = 0;

	for (;;) {
		size_t have = jfr_input_need(in, looked + 1);
		const uint8_t *end;

		if (have == looked || looked > LINE_MAX_BYTES)
			return have;
		end = memchr(in->at + looked, '\n', have - looked);
		if (end)
			return (size_t)(end - in->at) + 1;
		looked = have;
	}
}

int import_collapsed(struct jfr_input *in, struct recording *rec, uint64_t *bad_lines)
{
	struct lines l = { .rec = rec };
	uint64_t good = 0;
	size_t len;
	int err = 0;

	while (err != -ENOMEM && (len = next_line(in)) > 0) {
		const char *text = (const char *)in->at;
		size_t end = len;

		while (end && strchr("\r\n \t", text[end - 1]) && text[end - 1])
			end--;
		/* Empty lines and remarks are in files that people edit. */
		if (end && text[0] != '#') {
			err = take_text(&l, text, end);
			good += !err;
			*bad_lines += err == -EBADMSG;
		}
		if (err == -EBADMSG && !good)
			break;
		jfr_input_skip(in, len);
	}
	if (err == -EBADMSG && good)
		err = 0;
	if (!err && !good)
		err = -EBADMSG;
	free(l.frames);
	strbuf_free(&l.normal);
	strbuf_free(&l.raw);
	return err ? err : rec_error(rec);
}
