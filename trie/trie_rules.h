/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_RULES_H
#define JVMSCOPE_TRIE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trie/trie_build.h"

/*
 * The text form of rules, as in the .trie files of dd-trace-java.
 *
 * A line is an optional number, white space, a name, and anything behind it is a remark: no
 * number means 1. White space is the six ASCII characters of isspace(); '#' ends a name. A line
 * without a name is skipped. UTF-8; lines end in LF, CR or CR LF.
 *
 * What is legal and most likely not meant is warned about: a name of digits and punctuation only
 * ("1. com.x.*" is a rule for "1."), words that are ignored, control characters, a byte order
 * mark, a key that was there with another number.
 */
struct trie_message {
	bool error;	 /* else a warning */
	uint32_t line;	 /* from 1; 0: about the whole file */
	uint32_t column; /* from 1, in characters */
	char text[160];
};

typedef void trie_report_fn(const struct trie_message *message, void *ctx);

/*
 * Adds the rules of a text, and goes on after an error to report all there are.
 *
 * Returns 0, -EINVAL when an error was reported, -ENOMEM, -E2BIG. report may be NULL.
 */
int trie_rules_parse(const char *text, size_t size, struct trie_rules *rules,
		     trie_report_fn *report, void *ctx);

/* Text to words: parses, sorts and builds. Returns as these three do. */
int trie_from_text(const char *text, size_t size, struct trie_words *out, trie_report_fn *report,
		   void *ctx);

/*
 * Writes rules as text, each with its number. Keys that text cannot say (white space, '#', lone
 * surrogates, a '*' at the start, or at the end without glob) become a remark and are counted.
 *
 * Returns 0, -EINVAL when it is no trie, -EIO when a write failed, -ENOMEM.
 */
int trie_rules_write(const struct trie *trie, FILE *to, size_t *unwritable);

#endif
