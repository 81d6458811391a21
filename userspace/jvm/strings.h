/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_STRINGS_H
#define JVMSCOPE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct target;

/*
 * Many short strings of the target at once. The tables of libjvm name some 6,000 strings that lie
 * close together; read one by one they cost 10 ms, read by region less than one.
 *
 * A zeroed struct is a valid empty set.
 */
struct strings {
	struct string_region *regions; /* owned; sorted by address */
	size_t count;
};

struct string_region {
	uint64_t start;
	size_t size;
	char *bytes; /* owned */
};

/*
 * Reads the memory around every address (order and repetition do not matter, 0 is skipped);
 * addresses is sorted in place. What cannot be read, or is over 32 MiB or 1,024 places in all, is
 * left out. Returns 0, -ENOMEM, -ESRCH.
 */
int strings_read(const struct target *t, uint64_t *addresses, size_t count, struct strings *out);

/* The string at an address that was given, or NULL: unreadable, or longer than 255 bytes. */
const char *strings_get(const struct strings *strings, uint64_t addr);

void strings_free(struct strings *strings);

#endif
