/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threadname.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "jvm/flags.h"
#include "jvm/javafield.h"
#include "target/target.h"

#define OFFSET_MAX 512 /* of a field; a Thread has 100 bytes */
#define TRIES	   3
#define UTF16	   1		  /* String.coder */
#define REPLACED   "\xef\xbf\xbd" /* what is left of half a character */

/* ---- where names lie */

static int find_offsets(const struct target *t, const struct hotspot *h, int major,
			struct threadnames *out)
{
	struct javafield thread[] = { { .name = "name" }, { .name = "eetop" } };
	struct javafield string[] = { { .name = "value" }, { .name = "coder" } };
	uint64_t klass;
	int err;

	err = field_read(t, 0, h->field.thread_klass, &klass);
	if (!err)
		err = klass ? javafield_find(t, h, major, klass, thread, 2) : -EAGAIN;
	if (!err)
		err = field_read(t, 0, h->field.string_klass, &klass);
	if (!err)
		err = klass ? javafield_find(t, h, major, klass, string, 2) : -EAGAIN;
	if (err)
		return err;
	if (!thread[0].offset || !thread[1].offset || !string[0].offset ||
	    (!string[1].offset && major > 8))
		return -ENOENT;
	for (size_t i = 0; i < 2; i++)
		if (thread[i].offset > OFFSET_MAX || string[i].offset > OFFSET_MAX)
			return -EBADMSG;
	out->thread_name = thread[0].offset;
	out->thread_eetop = thread[1].offset;
	out->string_value = string[0].offset;
	out->string_coder = string[1].offset;
	return 0;
}

static void set_array(int major, bool compact, bool narrow_class, struct threadnames *out)
{
	/* A header of 8 bytes, with 4 or 8 bytes of the class behind it. */
	out->array_length = compact ? 8 : narrow_class ? 12 : 16;
	out->array_data = out->array_length + 4;
	/* Before 23 elements began at a multiple of 8. */
	if (major < 23)
		out->array_data = (out->array_data + 7) & ~7u;
}

static enum threadname_trust trust_in(const struct hotspot *h, const char *gc_name)
{
	static const char *const still[] = { "G1", "Parallel", "Serial", "Epsilon" };

	for (size_t i = 0; i < sizeof(still) / sizeof(*still); i++)
		if (!strcmp(gc_name, still[i]))
			return THREADNAME_STILL;
	return !strcmp(gc_name, "ZGC") && field_exists(h->field.z_globals) ? THREADNAME_COLOUR
									   : THREADNAME_MOVING;
}

int threadname_find(const struct target *t, const struct hotspot *h, int major, const char *gc_name,
		    struct threadnames *out)
{
	static const char *const names[] = { "UseCompressedOops", "UseCompressedClassPointers",
					     "UseCompactObjectHeaders" };
	const struct fields *f = &h->field;
	struct threadnames found = { .trust = trust_in(h, gc_name) };
	bool set[3] = { false };
	uint64_t shift = 0;
	int err;

	if (!field_exists(f->thread_object) || !field_exists(f->thread_klass) ||
	    !field_exists(f->string_klass) || !field_exists(f->narrow_base) ||
	    !field_exists(f->narrow_shift))
		return -ENOENT;
	err = flags_read(t, h, names, 3, set);
	if (!err)
		err = find_offsets(t, h, major, &found);
	if (!err)
		err = field_read(t, 0, f->narrow_base, &found.base);
	if (!err)
		err = field_read(t, 0, f->narrow_shift, &shift);
	if (err)
		return err;
	if (shift > 8)
		return -EBADMSG;
	found.shift = (uint32_t)shift;
	/* ZGC has none, whatever the flag was before it looked. */
	found.compressed = set[0] && found.trust != THREADNAME_COLOUR;
	set_array(major, set[2], set[1], &found);
	*out = found;
	return 0;
}

/* ---- references */

/* What ZGC's colours mean just now. */
struct colours {
	uint64_t bad;	 /* bits that no reference has which is up to date */
	uint64_t offset; /* bits of the address; 21 on: 0 */
	uint64_t good;
	uint64_t shift; /* 21 on: of a reference that is up to date, to its address */
};

/* A member of ZGlobalsForVMStructs points to the variable. Leaves *out when there is none. */
static int read_global(const struct target *t, uint64_t globals, struct field f, uint64_t *out)
{
	uint64_t at;
	int err;

	if (!field_exists(f))
		return 0;
	err = field_read(t, globals, f, &at);
	return err ? err : target_read_u64(t, at, out);
}

static int read_colours(const struct target *t, const struct hotspot *h, struct colours *out)
{
	const struct fields *f = &h->field;
	uint64_t globals;
	int err;

	err = field_read(t, 0, f->z_globals, &globals);
	if (!err)
		err = read_global(t, globals, f->z_bad_mask, &out->bad);
	if (!err)
		err = read_global(t, globals, f->z_good_mask, &out->good);
	if (!err && !field_exists(f->z_load_shift))
		err = read_global(t, globals, f->z_offset_mask, &out->offset);
	if (!err)
		err = read_global(t, globals, f->z_load_shift, &out->shift);
	return !err && out->shift > 63 ? -EBADMSG : err;
}

/* One look at a thread's name, and what was found on the way. */
struct look {
	const struct target *target;
	const struct threadnames *names;
	struct colours colours;
	bool old; /* some reference may be to where its object was */
	/* references as they are in memory, to be compared */
	uint64_t thread, name, value;
};

/*
 * From 21 on the address of a reference begins above that one of its four bits that says since
 * which collection it is up to date (zAddress.inline.hpp, load_shift_lookup): the reference tells
 * itself. On other processors than x86 it begins above all four.
 */
#define Z_SINCE_SHIFT 12
#define Z_SINCE_BITS  4
#ifdef __x86_64__
#define Z_SHIFT_VARIES true
#else
#define Z_SHIFT_VARIES false
#endif

static uint64_t shift_of(const struct colours *c, uint64_t reference)
{
	uint64_t since = reference >> Z_SINCE_SHIFT & ((1u << Z_SINCE_BITS) - 1);

	if (!Z_SHIFT_VARIES || !since)
		return c->shift;
	return Z_SINCE_SHIFT + 1 + (uint64_t)__builtin_ctzll(since);
}

static uint64_t address_of(struct look *look, uint64_t reference)
{
	const struct colours *c = &look->colours;

	if (look->names->trust != THREADNAME_COLOUR)
		return reference;
	look->old |= (reference & c->bad) != 0;
	if (c->offset)
		return (reference & c->offset) | c->good;
	return reference >> shift_of(c, reference);
}

/* A field that refers to an object: as it is in memory, and the object's address. */
static int read_reference(struct look *look, uint64_t at, uint64_t *raw, uint64_t *address)
{
	const struct threadnames *n = look->names;
	uint32_t narrow;
	int err;

	if (!n->compressed) {
		err = target_read_u64(look->target, at, raw);
		*address = err || !*raw ? 0 : address_of(look, *raw);
	} else {
		err = target_read_u32(look->target, at, &narrow);
		*raw = err ? 0 : narrow;
		*address = *raw ? n->base + (*raw << n->shift) : 0;
	}
	if (!err && !*address)
		err = -ENOENT;
	return err;
}

/* The object of a thread, when it is the thread's. */
static int check_thread(const struct look *look, uint64_t object, uint64_t java_thread)
{
	uint64_t eetop;
	int err = target_read_u64(look->target, object + look->names->thread_eetop, &eetop);

	if (err)
		return err;
	return eetop == java_thread ? 0 : -ESTALE;
}

/*
 * JavaThread::_threadObj is the reference (to 15), or points to a slot that holds it. Which of the
 * two is told by the object.
 */
static int find_thread(struct look *look, const struct hotspot *h, uint64_t java_thread,
		       uint64_t *object)
{
	uint64_t word;
	int err;

	err = target_read_u64(look->target, java_thread + h->field.thread_object.at, &word);
	if (err)
		return err;
	if (!word)
		return -ENOENT;
	if (!target_read_u64(look->target, word, &look->thread) && look->thread) {
		*object = address_of(look, look->thread);
		if (!check_thread(look, *object, java_thread))
			return 0;
	}
	look->thread = word;
	*object = address_of(look, word);
	return check_thread(look, *object, java_thread);
}

/* ---- the text */

/* Units of UTF-16, one after the other, as the JVM's UTF-8 has them: text_utf8 joins them. */
static size_t put_unit(uint16_t unit, char *to)
{
	if (unit && unit < 0x80) {
		to[0] = (char)unit;
		return 1;
	}
	if (unit < 0x800) {
		to[0] = (char)(0xc0 | unit >> 6);
		to[1] = (char)(0x80 | (unit & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | unit >> 12);
	to[1] = (char)(0x80 | (unit >> 6 & 0x3f));
	to[2] = (char)(0x80 | (unit & 0x3f));
	return 3;
}

static void put_name(const uint8_t *bytes, size_t units, bool wide, char to[THREADNAME_MAX])
{
	char text[3 * THREADNAME_MAX];
	size_t len = 0;
	uint16_t unit;

	for (size_t i = 0; i < units; i++) {
		unit = bytes[i];
		if (wide)
			memcpy(&unit, bytes + 2 * i, 2);
		len += put_unit(unit, text + len);
	}
	text_utf8(text, len, to, THREADNAME_MAX);
}

static int read_text(struct look *look, uint64_t string, char to[THREADNAME_MAX])
{
	const struct threadnames *n = look->names;
	uint8_t bytes[2 * THREADNAME_MAX];
	uint8_t coder = UTF16;
	uint64_t array;
	uint32_t units;
	int err;

	err = read_reference(look, string + n->string_value, &look->value, &array);
	if (!err && n->string_coder)
		err = target_read(look->target, string + n->string_coder, &coder, 1);
	if (!err)
		err = target_read_u32(look->target, array + n->array_length, &units);
	if (err)
		return err;
	if (coder > UTF16 || units > INT32_MAX)
		return -ESTALE;
	/* The length of a byte[] is in bytes, that of a char[] in units. */
	if (coder == UTF16 && n->string_coder)
		units /= 2;
	if (units > THREADNAME_MAX)
		units = THREADNAME_MAX;
	err = target_read(look->target, array + n->array_data, bytes,
			  (size_t)units << (coder == UTF16));
	if (!err)
		put_name(bytes, units, coder == UTF16, to);
	return err;
}

/* Whether the name begins as the kernel's does, which may end in the middle of a character. */
static bool begins_as(const char *name, const char *comm)
{
	const size_t mark = sizeof(REPLACED) - 1;
	size_t len = strlen(comm);

	while (len >= mark && !memcmp(comm + len - mark, REPLACED, mark))
		len -= mark;
	return len > 0 && !strncmp(name, comm, len);
}

/* One try. -ESTALE: something moved meanwhile. */
static int look_once(struct look *look, const struct hotspot *h, uint64_t java_thread,
		     char to[THREADNAME_MAX])
{
	const struct threadnames *n = look->names;
	struct look again = { .target = look->target, .names = n };
	uint64_t object, string, unused;
	int err;

	if (n->trust == THREADNAME_COLOUR) {
		err = read_colours(look->target, h, &look->colours);
		if (err)
			return err;
		again.colours = look->colours;
	}
	err = find_thread(look, h, java_thread, &object);
	if (!err)
		err = read_reference(look, object + n->thread_name, &look->name, &string);
	if (!err)
		err = read_text(look, string, to);
	if (err)
		return err;
	err = find_thread(&again, h, java_thread, &object);
	if (!err)
		err = read_reference(&again, object + n->thread_name, &again.name, &string);
	if (!err)
		err = read_reference(&again, string + n->string_value, &again.value, &unused);
	if (err)
		return err;
	return look->thread == again.thread && look->name == again.name &&
			       look->value == again.value
		       ? 0
		       : -ESTALE;
}

int threadname_read(const struct target *t, const struct hotspot *h, const struct threadnames *n,
		    uint64_t java_thread, const char *comm, char to[THREADNAME_MAX])
{
	char name[THREADNAME_MAX];
	struct look look;
	int err = -ESTALE;

	for (int i = 0; i < TRIES && err == -ESTALE; i++) {
		look = (struct look){ .target = t,
				      .names = n,
				      .old = n->trust == THREADNAME_MOVING };
		err = look_once(&look, h, java_thread, name);
	}
	if (err)
		return err;
	if (look.old && !begins_as(name, comm))
		return -ESTALE;
	if (!name[0])
		return -ENOENT;
	memcpy(to, name, sizeof(name));
	return 0;
}
