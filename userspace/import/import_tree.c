/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_tree.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tree_fail(struct tree *t, const char *fmt, ...)
{
	va_list args;

	if (t->err)
		return;
	t->err = -EBADMSG;
	va_start(args, fmt);
	vsnprintf(t->why, t->why_size, fmt, args);
	va_end(args);
}

yajl_val tree_get(yajl_val map, const char *key)
{
	const char *path[] = { key, NULL };

	return map ? yajl_tree_get(map, path, yajl_t_any) : NULL;
}

int64_t tree_integer(yajl_val value)
{
	return YAJL_IS_INTEGER(value) ? YAJL_GET_INTEGER(value) : 0;
}

int64_t tree_time(yajl_val value)
{
	return rec_time(tree_integer(value));
}

/* Addresses use all 64 bits, which yajl has only as text. */
uint64_t tree_counter(yajl_val value)
{
	const char *digits = YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value) : "";

	return *digits >= '0' && *digits <= '9' ? strtoull(digits, NULL, 10) : 0;
}

double tree_decimal(yajl_val value)
{
	if (YAJL_IS_NUMBER(value))
		return strtod(YAJL_GET_NUMBER(value), NULL);
	return value ? (double)NAN : 0;
}

bool tree_is_true(yajl_val value)
{
	return YAJL_IS_TRUE(value);
}

const char *tree_text(yajl_val value)
{
	return YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : "";
}

uint32_t tree_string(struct tree *t, yajl_val value)
{
	const char *bytes = tree_text(value);

	return *bytes ? rec_string(t->rec, bytes, strlen(bytes)) : 0;
}

size_t tree_length(yajl_val array)
{
	return YAJL_IS_ARRAY(array) ? YAJL_GET_ARRAY(array)->len : 0;
}

yajl_val tree_at(yajl_val array, size_t i)
{
	yajl_val *values = YAJL_IS_ARRAY(array) ? YAJL_GET_ARRAY(array)->values : NULL;

	return values && i < tree_length(array) ? values[i] : NULL;
}

const char *tree_text_at(struct tree *t, yajl_val index)
{
	return YAJL_IS_INTEGER(index) ? tree_text(tree_at(t->strings, (size_t)tree_integer(index)))
				      : "";
}

uint32_t tree_string_at(struct tree *t, yajl_val index)
{
	const char *bytes = tree_text_at(t, index);

	return *bytes ? rec_string(t->rec, bytes, strlen(bytes)) : 0;
}

uint32_t tree_id_at(struct tree *t, const uint32_t *ids, size_t count, yajl_val index)
{
	int64_t i = tree_integer(index);

	if (!YAJL_IS_INTEGER(index))
		return 0;
	if (i < 0 || (size_t)i >= count) {
		tree_fail(t, "JSON: %lld is no place in its table", (long long)i);
		return 0;
	}
	return ids[i];
}

uint32_t *tree_new_ids(struct tree *t, size_t count)
{
	uint32_t *ids = calloc(count + 1, sizeof(*ids));

	if (!ids && !t->err)
		t->err = -ENOMEM;
	return ids;
}

uint32_t tree_jvm_at(struct tree *t, yajl_val index)
{
	int64_t jvm = tree_integer(index);

	if (!YAJL_IS_INTEGER(index))
		return 0;
	if (jvm < 0 || jvm >= rec_jvm_count(t->rec))
		tree_fail(t, "JSON: %lld is no place in the table of JVMs", (long long)jvm);
	return (uint32_t)(jvm + 1);
}

void tree_each(struct tree *t, yajl_val rows, void (*read)(struct tree *t, yajl_val row))
{
	for (size_t i = 0; i < tree_length(rows) && !t->err; i++)
		read(t, tree_at(rows, i));
}
