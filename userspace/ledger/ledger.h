/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LEDGER_H
#define JVMSCOPE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct recording;
struct vm_kind;

/*
 * The memory ledger of one JVM, read from outside: see model/ledger.h for what it says.
 *
 * A reading begins with what must be of one moment (mappings, owners, pages), some milliseconds;
 * the walk over libc's chunks then goes on in steps. Only pages that are present are read.
 */
struct ledger;

/* Opens the JVM in a process. Returns 0 or a negative errno; -EAGAIN: later. Never logs. */
int ledger_open(pid_t pid, const struct vm_kind *kind, struct ledger **out);
void ledger_close(struct ledger *ledger);

/*
 * Begins a reading; one that was not complete is forgotten. detail: stacks by the name of their
 * thread. Returns 0, or a negative errno: there is no reading then.
 */
int ledger_begin(struct ledger *ledger, bool detail);

/* Goes on until CLOCK_MONOTONIC is deadline_ns. Whether the reading is complete. */
bool ledger_step(struct ledger *ledger, uint64_t deadline_ns);

/* Puts the reading into the recording, complete or not: chunks not looked at are said to be so. */
void ledger_put(struct ledger *ledger, struct recording *rec, uint32_t jvm);

/* Whether a reading has begun and is not put yet. */
bool ledger_is_reading(const struct ledger *ledger);

/* Adds one value to each series of counters.h. Cheap. Returns 0 or a negative errno. */
int ledger_count(struct ledger *ledger, struct recording *rec, uint32_t jvm, uint64_t *rss_bytes);

#endif
