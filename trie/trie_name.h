/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_NAME_H
#define JVMSCOPE_TRIE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names as people and files write them, to the modified UTF-8 that the searches take.
 *
 * All write into "to", which has room for size bytes, and return the length, or -1 when the name
 * is malformed or does not fit.
 */

/* From 16-bit units: at most three bytes each. */
long trie_name_from_units(const uint16_t *units, size_t count, uint8_t *to, size_t size);

/* From UTF-8: NUL and characters above U+FFFF are written otherwise in modified UTF-8. */
long trie_name_from_utf8(const char *text, size_t len, uint8_t *to, size_t size);

/* From ASCII with a backslash, 'u' and four hexadecimal digits for any other unit. */
long trie_name_from_escaped(const char *text, size_t len, uint8_t *to, size_t size);

/* Bytes of the UTF-8 character at "at", and its code point; 0 when it is none. at < end. */
size_t trie_utf8_next(const uint8_t *at, const uint8_t *end, uint32_t *out);

/* The byte at which unit number "units" of a name begins; len when it has fewer. */
size_t trie_name_offset(const uint8_t *name, size_t len, size_t units);

#endif
