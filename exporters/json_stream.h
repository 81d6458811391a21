/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JSON_STREAM_H
#define JVMSCOPE_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>

/*
 * JSON straight to a FILE, token by token: memory does not grow with the document.
 *
 * The first failure is remembered and everything after it is dropped, so that callers write a
 * whole section and ask once.
 */
struct json_stream {
	yajl_gen gen;
	FILE *out;
	int err;
	char *text; /* owned; for text_utf8() */
	size_t text_size;
};

/* Returns 0 or -ENOMEM. */
int json_stream_open(struct json_stream *json, FILE *out);

/* Ends the line, flushes, frees. Returns 0 or the first failure as a negative errno. */
int json_stream_close(struct json_stream *json);

void json_map(struct json_stream *json);
void json_map_end(struct json_stream *json);
void json_array(struct json_stream *json);
void json_array_end(struct json_stream *json);

void json_null(struct json_stream *json);
void json_bool(struct json_stream *json, bool value);
void json_signed(struct json_stream *json, int64_t value);
void json_unsigned(struct json_stream *json, uint64_t value);
/* With three decimals; null when it is not finite. */
void json_decimal(struct json_stream *json, double value);
/* Any bytes; written as valid UTF-8. */
void json_text(struct json_stream *json, const char *text);
/* null instead of "". */
void json_text_or_null(struct json_stream *json, const char *text);

/* An id of the recording, where ids are 1..count and 0 is none: 0-based, and null for none. */
void json_index(struct json_stream *json, uint32_t id);

/* The same with a key before, in a map. */
void json_key(struct json_stream *json, const char *key);
void json_key_signed(struct json_stream *json, const char *key, int64_t value);
/* null when it is not known. */
void json_key_signed_or_null(struct json_stream *json, const char *key, int64_t value, bool known);
void json_key_unsigned(struct json_stream *json, const char *key, uint64_t value);
void json_key_decimal(struct json_stream *json, const char *key, double value);
void json_key_bool(struct json_stream *json, const char *key, bool value);
void json_key_index(struct json_stream *json, const char *key, uint32_t id);
void json_key_text(struct json_stream *json, const char *key, const char *text);
void json_key_text_or_null(struct json_stream *json, const char *key, const char *text);

#endif
