/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/json_stream.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void fail(struct json_stream *json, int err)
{
	if (!json->err)
		json->err = err;
}

/* Called by yajl for each token. */
static void print(void *context, const char *bytes, size_t len)
{
	struct json_stream *json = context;

	if (json->err)
		return;
	errno = 0;
	if (fwrite_unlocked(bytes, 1, len, json->out) != len)
		fail(json, errno ? -errno : -EIO);
}

/* Anything else than ok is a mistake of the caller: a value where a key belongs. */
static void check(struct json_stream *json, yajl_gen_status status)
{
	if (status != yajl_gen_status_ok)
		fail(json, -EINVAL);
}

int json_stream_open(struct json_stream *json, FILE *out)
{
	*json = (struct json_stream){ .out = out, .gen = yajl_gen_alloc(NULL) };
	if (!json->gen)
		return -ENOMEM;
	yajl_gen_config(json->gen, yajl_gen_print_callback, print, json);
	return 0;
}

int json_stream_close(struct json_stream *json)
{
	int err;

	print(json, "\n", 1);
	errno = 0;
	if (!json->err && (fflush(json->out) || ferror(json->out)))
		fail(json, errno ? -errno : -EIO);
	err = json->err;
	yajl_gen_free(json->gen);
	free(json->text);
	*json = (struct json_stream){ 0 };
	return err;
}

void json_map(struct json_stream *json)
{
	check(json, yajl_gen_map_open(json->gen));
}

void json_map_end(struct json_stream *json)
{
	check(json, yajl_gen_map_close(json->gen));
}

void json_array(struct json_stream *json)
{
	check(json, yajl_gen_array_open(json->gen));
}

void json_array_end(struct json_stream *json)
{
	check(json, yajl_gen_array_close(json->gen));
}

void json_null(struct json_stream *json)
{
	check(json, yajl_gen_null(json->gen));
}

void json_bool(struct json_stream *json, bool value)
{
	check(json, yajl_gen_bool(json->gen, value));
}

void json_signed(struct json_stream *json, int64_t value)
{
	check(json, yajl_gen_integer(json->gen, value));
}

/* yajl_gen_integer() is signed, and addresses of the kernel are not. */
void json_unsigned(struct json_stream *json, uint64_t value)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	check(json, yajl_gen_number(json->gen, digits, (size_t)len));
}

void json_decimal(struct json_stream *json, double value)
{
	char digits[400]; /* the largest double has 309 digits before the point */
	int len;

	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	len = snprintf(digits, sizeof(digits), "%.3f", value);
	check(json, yajl_gen_number(json->gen, digits, (size_t)len));
}

void json_text(struct json_stream *json, const char *text)
{
	size_t len = strlen(text);
	size_t needed = 3 * len + 1; /* a bad byte becomes the three of U+FFFD */

	if (needed > json->text_size) {
		char *larger = realloc(json->text, 2 * needed);

		if (!larger) {
			fail(json, -ENOMEM);
			return;
		}
		json->text = larger;
		json->text_size = 2 * needed;
	}
	len = text_utf8(text, len, json->text, json->text_size);
	check(json, yajl_gen_string(json->gen, (const unsigned char *)json->text, len));
}

void json_text_or_null(struct json_stream *json, const char *text)
{
	if (*text)
		json_text(json, text);
	else
		json_null(json);
}

void json_index(struct json_stream *json, uint32_t id)
{
	if (id)
		json_unsigned(json, id - 1);
	else
		json_null(json);
}

void json_key(struct json_stream *json, const char *key)
{
	json_text(json, key);
}

void json_key_signed(struct json_stream *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_signed(json, value);
}

void json_key_signed_or_null(struct json_stream *json, const char *key, int64_t value, bool known)
{
	json_key(json, key);
	if (known)
		json_signed(json, value);
	else
		json_null(json);
}

void json_key_unsigned(struct json_stream *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_unsigned(json, value);
}

void json_key_decimal(struct json_stream *json, const char *key, double value)
{
	json_key(json, key);
	json_decimal(json, value);
}

void json_key_bool(struct json_stream *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_key_index(struct json_stream *json, const char *key, uint32_t id)
{
	json_key(json, key);
	json_index(json, id);
}

void json_key_text(struct json_stream *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text(json, text);
}

void json_key_text_or_null(struct json_stream *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text_or_null(json, text);
}
