/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIEFILE_H
#define JVMSCOPE_TRIEFILE_H

#include "trie/trie_build.h"

/* Files of class-name rules, in text or binary form. */

#define TRIEFILE_BYTES_MAX    (256u << 20) /* a million rules are 40 MB */
#define TRIEFILE_MESSAGES_MAX 20	   /* shown of one file; the others are counted */

/*
 * Reads and checks a file; "-" is standard input. Mistakes are logged as PATH:LINE:COLUMN: TEXT,
 * warnings too. Returns 0 or a negative errno after at least one line on standard error.
 */
int triefile_read(const char *path, struct trie_words *out);

/*
 * The rules with this name: NULL or "built-in" the built-in list, "none" no rules, else those of a
 * file. *words owns what *out refers to. Returns as triefile_read().
 */
int triefile_choose(const char *name, struct trie_words *words, struct trie *out);

/* How outputs call such rules: "built-in", "none", or the name of the file. */
const char *triefile_source(const char *name);

#endif
