/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LEDGERS_H
#define JVMSCOPE_LEDGERS_H

#include <stddef.h>
#include <stdint.h>

struct recording;

/*
 * When the memory of which JVM is looked at: all JVMs of the recording, as they come. A full
 * ledger at the start, every 10 s, when Rss moved by 5 %, and at the end; cheap counters each
 * second, also those of the machine. A full one takes at most a hundredth of our time in the long
 * run: where it is expensive, it is made less often.
 *
 * A zeroed struct is empty.
 */
struct ledgers {
	struct ledger_of *items; /* owned */
	size_t count;
	size_t capacity;
	uint64_t machine_ns; /* CLOCK_MONOTONIC, when the machine's counters are due */
	size_t next;	     /* whose turn it is to begin */
	uint32_t jvms;	     /* of the recording that were looked at for new ones */
};

/* About ten times a second; takes some milliseconds when a ledger is due. Never fails. */
void ledgers_tick(struct ledgers *ledgers, struct recording *rec);

/* The last ledger of every JVM that lives: takes as long as it needs, at most some seconds. */
void ledgers_finish(struct ledgers *ledgers, struct recording *rec);

void ledgers_free(struct ledgers *ledgers);

#endif
