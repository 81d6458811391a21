/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TEXT_H
#define JVMSCOPE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Numbers from text a user typed, and numbers to text a user reads. All return 0 or -EINVAL. */

/* 100 years: added to a time of day, no int64_t overflows. */
#define TEXT_DURATION_MAX_NS 3155760000000000000ull

/*
 * "30", "30s", "500ms", "5m", "1h" (a plain number is seconds; "1.5s" is allowed); > 0 and at most
 * TEXT_DURATION_MAX_NS.
 */
int text_duration_ns(const char *text, uint64_t *out);

/* "4096", "64k", "8M", "1GiB", "1GB" (k, M, G are powers of 1024, with or without B or iB). */
int text_size_bytes(const char *text, uint64_t *out);

/* A whole number in lo..hi, decimal, nothing after it. */
int text_number(const char *text, uint64_t lo, uint64_t hi, uint64_t *out);

/* "12", "12,34": up to max pids, each > 0; *count is how many. -E2BIG when there are more. */
int text_pids(const char *text, pid_t *pids, size_t max, size_t *count);

#define TEXT_MAX 32 /* enough for every result below */

/* "1.5 KiB", "12 B", "3.2 GiB". Returns to. */
const char *text_bytes(uint64_t bytes, char to[TEXT_MAX]);

/* "850 ns", "1.2 ms", "3.4 s", "2 m 05 s", "1 h 02 m". Returns to. */
const char *text_ns(uint64_t ns, char to[TEXT_MAX]);

/* "12,345,678". Returns to. */
const char *text_count(uint64_t value, char to[TEXT_MAX]);

/*
 * Copies text as valid UTF-8 without control characters: modified UTF-8 of the JVM (two-byte
 * NUL, surrogate pairs of three bytes each) becomes standard, anything invalid becomes U+FFFD.
 * Writes at most size - 1 bytes and a NUL, never half a character. Returns the length written.
 */
size_t text_utf8(const char *from, size_t len, char *to, size_t size);

/* Whether text ends with suffix. */
bool text_ends_with(const char *text, const char *suffix);

#endif
