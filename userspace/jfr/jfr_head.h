/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_HEAD_H
#define JVMSCOPE_JFR_HEAD_H

#include "jfr/jfr_decode.h"

/* What stands before an event's fields. */
struct jfr_head {
	uint64_t size;
	uint64_t type;
	uint32_t len; /* of both */
};

#define JFR_HEAD_MAX ((size_t)2 * JFR_VARINT_MAX)

/* The size is 0 when it is none. */
static inline struct jfr_head jfr_head_at(const uint8_t *at, size_t left)
{
	struct cursor c = cursor_of(at, left);
	struct jfr_head head;

	head.size = jfr_varint(&c);
	head.type = jfr_varint(&c);
	head.len = (uint32_t)(c.at - at);
	if (c.failed)
		head.size = 0;
	return head;
}

/*
 * The same of what nearly all events have: a size of one byte, a type of one or two. false: it is
 * not so. at has three bytes.
 */
static inline bool jfr_short_head(const uint8_t *at, struct jfr_head *head)
{
	uint32_t more = at[1] >> 7;

	head->size = at[0];
	head->type = (at[1] & 0x7fu) | (at[2] & -more) << 7;
	head->len = 2 + more;
	return at[0] < 0x80 && !(at[1] & at[2] & 0x80);
}

#endif
