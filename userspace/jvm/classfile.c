/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/classfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map64.h"

#define MAGIC	       0xcafebabeu
#define CONSTANT_DEPTH 4 /* a method handle of a method of a class of a name */

/* Tags of constants, JVMS table 4.4-A. */
enum {
	CONSTANT_UTF8 = 1,
	CONSTANT_INTEGER = 3,
	CONSTANT_FLOAT = 4,
	CONSTANT_LONG = 5,
	CONSTANT_DOUBLE = 6,
	CONSTANT_CLASS = 7,
	CONSTANT_STRING = 8,
	CONSTANT_FIELD = 9,
	CONSTANT_METHOD = 10,
	CONSTANT_INTERFACE_METHOD = 11,
	CONSTANT_NAME_AND_TYPE = 12,
	CONSTANT_METHOD_HANDLE = 15,
	CONSTANT_METHOD_TYPE = 16,
	CONSTANT_DYNAMIC = 17,
	CONSTANT_INVOKE_DYNAMIC = 18,
	CONSTANT_MODULE = 19,
	CONSTANT_PACKAGE = 20,
	CONSTANT_TAGS,
};

/* Bytes behind the tag, and which of them are indexes of other constants. */
static const struct {
	uint8_t size;	     /* 0: no such tag */
	uint8_t first_index; /* offset behind the tag of the first index */
	uint8_t indexes;
} constants[CONSTANT_TAGS] = {
	[CONSTANT_UTF8] = { 2, 0, 0 },		 [CONSTANT_INTEGER] = { 4, 0, 0 },
	[CONSTANT_FLOAT] = { 4, 0, 0 },		 [CONSTANT_LONG] = { 8, 0, 0 },
	[CONSTANT_DOUBLE] = { 8, 0, 0 },	 [CONSTANT_CLASS] = { 2, 0, 1 },
	[CONSTANT_STRING] = { 2, 0, 1 },	 [CONSTANT_FIELD] = { 4, 0, 2 },
	[CONSTANT_METHOD] = { 4, 0, 2 },	 [CONSTANT_INTERFACE_METHOD] = { 4, 0, 2 },
	[CONSTANT_NAME_AND_TYPE] = { 4, 0, 2 },	 [CONSTANT_METHOD_HANDLE] = { 3, 1, 1 },
	[CONSTANT_METHOD_TYPE] = { 2, 0, 1 },	 [CONSTANT_DYNAMIC] = { 4, 2, 1 },
	[CONSTANT_INVOKE_DYNAMIC] = { 4, 2, 1 }, [CONSTANT_MODULE] = { 2, 0, 1 },
	[CONSTANT_PACKAGE] = { 2, 0, 1 },
};

/* Class files are big endian. */
static uint16_t big16(struct cursor *c)
{
	return __builtin_bswap16(cursor_u16(c));
}

static uint32_t big32(struct cursor *c)
{
	return __builtin_bswap32(cursor_u32(c));
}

static uint16_t big16_at(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* ---- constants */

static int read_pool(struct cursor *c, struct classfile *file)
{
	for (uint32_t i = 1; i < file->constants; i++) {
		uint8_t tag;
		size_t size;

		file->pool[i] = (uint32_t)(c->at - file->bytes);
		tag = cursor_u8(c);
		size = tag < CONSTANT_TAGS ? constants[tag].size : 0;
		if (!size)
			return -EBADMSG;
		if (tag == CONSTANT_UTF8)
			size = big16(c);
		cursor_bytes(c, size);
		file->methodrefs += tag == CONSTANT_METHOD || tag == CONSTANT_INTERFACE_METHOD;
		/* They take two indexes. */
		i += tag == CONSTANT_LONG || tag == CONSTANT_DOUBLE;
	}
	return c->failed ? -EBADMSG : 0;
}

/* The constant, whose bytes read_pool() has seen to be there; NULL when there is none. */
static const uint8_t *constant_at(const struct classfile *file, uint16_t index)
{
	return index < file->constants && file->pool[index] ? file->bytes + file->pool[index]
							    : NULL;
}

static struct classfile_text text_at(const struct classfile *file, uint16_t index)
{
	const uint8_t *constant = constant_at(file, index);

	if (!constant || constant[0] != CONSTANT_UTF8)
		return (struct classfile_text){ "", 0 };
	return (struct classfile_text){ (const char *)constant + 3, big16_at(constant + 1) };
}

/* Once each: thousands of constants may name one text of 64 KiB. */
static uint64_t hash_text(const struct classfile *file, uint16_t index)
{
	const uint8_t *constant = constant_at(file, index);

	if (!file->texts[index])
		file->texts[index] = map64_hash(constant, 3u + big16_at(constant + 1));
	return file->texts[index];
}

static uint64_t hash_constant(const struct classfile *file, uint16_t index, int depth)
{
	const uint8_t *constant = constant_at(file, index), *at;
	uint64_t parts[4] = { 0 };
	uint8_t tag;

	if (!constant || depth > CONSTANT_DEPTH)
		return 0;
	tag = constant[0];
	if (tag == CONSTANT_UTF8)
		return hash_text(file, index);
	/* A call is one, whether of a class or of an interface. */
	parts[0] = tag == CONSTANT_INTERFACE_METHOD ? CONSTANT_METHOD : tag;
	if (!constants[tag].indexes)
		return map64_hash(constant, 1u + constants[tag].size);
	if (tag == CONSTANT_METHOD_HANDLE)
		parts[1] = constant[1];
	at = constant + 1 + constants[tag].first_index;
	for (uint8_t i = 0; i < constants[tag].indexes; i++)
		parts[2 + i] = hash_constant(file, big16_at(at + (size_t)2 * i), depth + 1);
	return map64_hash(parts, sizeof(parts));
}

uint64_t classfile_constant(const struct classfile *file, uint16_t index)
{
	return hash_constant(file, index, 0);
}

bool classfile_is_method(const struct classfile *file, uint16_t index)
{
	const uint8_t *constant = constant_at(file, index);

	return constant &&
	       (constant[0] == CONSTANT_METHOD || constant[0] == CONSTANT_INTERFACE_METHOD);
}

/* ---- methods */

static bool is_text(struct classfile_text text, const char *what)
{
	return text.len == strlen(what) && !memcmp(text.bytes, what, text.len);
}

static void skip_attributes(struct cursor *c)
{
	for (uint32_t left = big16(c); left && !c->failed; left--) {
		big16(c);
		cursor_bytes(c, big32(c));
	}
}

static void read_frames(struct cursor *c, uint32_t size, struct classfile_method *method)
{
	struct cursor inner;

	method->frames = cursor_bytes(c, size);
	if (!method->frames)
		return;
	method->frames_size = size;
	inner = cursor_of(method->frames, size);
	method->frame_count = big16(&inner);
}

static void read_code(struct cursor *c, const struct classfile *file,
		      struct classfile_method *method)
{
	uint32_t size;

	method->max_stack = big16(c);
	method->max_locals = big16(c);
	size = big32(c);
	method->code = cursor_bytes(c, size);
	method->code_size = method->code ? size : 0;
	cursor_bytes(c, (size_t)big16(c) * 8); /* exception table */
	for (uint32_t left = big16(c); left && !c->failed; left--) {
		struct classfile_text name = text_at(file, big16(c));

		size = big32(c);
		if (is_text(name, "StackMapTable"))
			read_frames(c, size, method);
		else
			cursor_bytes(c, size);
	}
}

static void read_method(struct cursor *c, struct classfile *file, struct classfile_method *method)
{
	big16(c); /* flags */
	method->name = text_at(file, big16(c));
	method->signature = text_at(file, big16(c));
	for (uint32_t left = big16(c); left && !c->failed; left--) {
		struct classfile_text name = text_at(file, big16(c));
		uint32_t size = big32(c);
		const void *bytes = cursor_bytes(c, size);
		struct cursor inner;

		if (!bytes || !is_text(name, "Code"))
			continue;
		inner = cursor_of(bytes, size);
		read_code(&inner, file, method);
		c->failed |= inner.failed;
	}
	file->has_frames |= method->frames != NULL;
}

static int read_members(struct cursor *c, struct classfile *file)
{
	big16(c); /* flags, this, super */
	big16(c);
	big16(c);
	cursor_bytes(c, (size_t)big16(c) * 2); /* interfaces */
	for (uint32_t left = big16(c); left && !c->failed; left--) {
		cursor_bytes(c, 6);
		skip_attributes(c);
	}
	file->method_count = big16(c);
	file->methods = calloc((size_t)file->method_count + 1, sizeof(*file->methods));
	if (!file->methods)
		return -ENOMEM;
	for (uint32_t i = 0; i < file->method_count && !c->failed; i++)
		read_method(c, file, &file->methods[i]);
	return c->failed ? -EBADMSG : 0;
}

int classfile_parse(const uint8_t *bytes, size_t size, struct classfile *out)
{
	struct cursor c = cursor_of(bytes, size);
	struct classfile file = { .bytes = bytes, .size = size };
	int err;

	if (big32(&c) != MAGIC)
		return -EBADMSG;
	big16(&c);
	file.major = big16(&c);
	file.constants = big16(&c);
	file.pool = calloc((size_t)file.constants + 1, sizeof(*file.pool));
	file.texts = calloc((size_t)file.constants + 1, sizeof(*file.texts));
	err = file.pool && file.texts ? read_pool(&c, &file) : -ENOMEM;
	if (!err)
		err = read_members(&c, &file);
	if (err) {
		classfile_free(&file);
		return err;
	}
	*out = file;
	return 0;
}

void classfile_free(struct classfile *file)
{
	free(file->pool);
	free(file->texts);
	free(file->methods);
	*file = (struct classfile){ 0 };
}
