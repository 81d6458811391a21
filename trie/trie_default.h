/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TRIE_DEFAULT_H
#define JVMSCOPE_TRIE_DEFAULT_H

#include "trie/trie.h"

/*
 * default.rules, as the build step gen.c has made it: a constant, with no work at start-up.
 *
 * 1 is library code; 0, and no rule, are application code.
 */
extern const struct trie trie_default;

#endif
