/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_FORM_H
#define JVMSCOPE_TRIE_FORM_H

#include <stdbool.h>
#include <stdio.h>

#include "trie/trie_rules.h"

/*
 * The forms of a trie besides text: the binary resource that Java programs load, a C constant and
 * a Java class. All are read and written whole.
 *
 * Binary, big endian: TRIE_MAGIC, the number of units (32 bits), the units in modified UTF-8, the
 * number of long jumps (32 bits), the long jumps (32 bits each).
 */
#define TRIE_MAGIC 0xdd097213u

/* Whether a file is in binary form: text in UTF-8 cannot begin like this. */
bool trie_is_binary(const void *bytes, size_t size);

/*
 * Reads and checks a binary form; fewer than 3 units are the empty trie. Both encodings of jumps
 * are understood. What is wrong is reported as one message, without line.
 *
 * Returns 0, -EINVAL, -ENOMEM, -E2BIG.
 */
int trie_from_binary(const void *bytes, size_t size, struct trie_words *out, trie_report_fn *report,
		     void *ctx);

/* Reads either form. */
int trie_from_bytes(const void *bytes, size_t size, struct trie_words *out, trie_report_fn *report,
		    void *ctx);

/* These return 0, or -EIO when a write failed. */
int trie_write_binary(const struct trie *trie, FILE *to);

/* A constant "const struct trie NAME". It takes no time at start-up and lies in .rodata. */
int trie_write_c(const struct trie *trie, const char *name, FILE *to);

/*
 * A class NAME with two constants: UNITS, strings of at most 10,000 units, so that each is one
 * entry of the constant pool, and LONG_JUMPS. package may be NULL.
 */
int trie_write_java(const struct trie *trie, const char *package, const char *name, FILE *to);

#endif
