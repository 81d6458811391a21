/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_METHOD_H
#define JVMSCOPE_METHOD_H

#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"
#include "jvm/jvm.h"
#include "jvm/layout.h"
#include "jvm/names.h"

struct target;

/*
 * Methods of the target by name, each read once.
 *
 * The key is the Method's address with the address of its ConstMethod: the first is reused after
 * classes are unloaded, the second changes then, and when a class is redefined.
 */

struct method {
	struct jvm_method shown;
	const uint8_t *lines; /* compressed line table; NULL: none */
	size_t lines_size;
	uint32_t checked; /* generation in which it was last seen to be the same */
	/* where it was read from: what tells whether it still is the same */
	uint64_t pool;
	uint64_t klass;
	uint64_t class_symbol; /* Klass::_name */
	uint32_t name_index;   /* into the pool */
	uint32_t signature_index;
};

struct methods {
	const struct target *target;
	const struct hotspot *hotspot;
	unsigned int bias;     /* of UNSIGNED5 */
	uint32_t generation;   /* a method is compared with the target once in each */
	struct names names;    /* everything below lies in it */
	struct method **items; /* owned */
	uint32_t count;
	uint32_t capacity;
	uint32_t numbers;      /* given to methods, also to forgotten ones */
	struct map64 by_key;   /* index into items */
	struct map64 last;     /* address to index of the newest there */
	struct map64 of_class; /* Klass* to index of the newest of its methods */
};

/* What a frame's cookie is for a ConstMethod. */
static inline uint32_t method_cookie(uint64_t const_method)
{
	return (uint32_t)(const_method >> 3);
}

/*
 * The method that is at this address now. Returns 0, -ESTALE (replaced while it was read),
 * -EBADMSG (not a method), -EFAULT, -ESRCH, -ENOMEM.
 */
int methods_get(struct methods *methods, uint64_t address, const struct method **out);

/*
 * Several at once, with few system calls for those that are known; NULL for one that cannot be
 * read. Returns 0, -ESRCH or -ENOMEM.
 */
int methods_get_some(struct methods *methods, const uint64_t *addresses, size_t count,
		     const struct method **out);

/*
 * The method that was at this address with this cookie: the one there now, or one that was read
 * before. -ESTALE when neither is it.
 */
int methods_get_exactly(struct methods *methods, uint64_t address, uint32_t cookie,
			const struct method **out);

/*
 * The numbers of the methods that were at these addresses with these cookies, as by
 * methods_get_exactly, 0 where it fails; compared with the target once in a generation. At most
 * METHODS_NUMBERED. Returns 0, -ESRCH or -ENOMEM.
 */
#define METHODS_NUMBERED 64
struct method_place {
	uint64_t address;
	uint32_t cookie;
};
int methods_number(struct methods *methods, const struct method_place *places, size_t count,
		   uint32_t *out);

/* The line of a bci (below 0: of method entry), -1: unknown, -2: native method. */
int method_line(const struct methods *methods, const struct method *method, int bci);

/* Whether a class name has an address in it: "T$$Lambda+0x00007f01", "T$$Lambda/0x00007f01". */
bool method_class_is_hidden(const char *class_name);

size_t methods_memory(const struct methods *methods);

/* Forgets all: every pointer handed out is invalid. */
void methods_free(struct methods *methods);

#endif
