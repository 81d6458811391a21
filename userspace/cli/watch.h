/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_WATCH_H
#define JVMSCOPE_WATCH_H

#include <stddef.h>

#include "base/map64.h"

struct live;

/*
 * For --all: adds each JVM of the host to a recording once, when it is first seen.
 *
 * A zeroed struct has seen none. A pid that is gone is forgotten, so a later process with the
 * same number counts as new.
 */
struct watch {
	struct map64 seen; /* pids of the last look */
	size_t added;
	size_t failed; /* JVMs that could not be added; each was logged */
};

/* Looks through the host once. Returns 0 or a negative errno (/proc cannot be read), logged. */
int watch_look(struct watch *watch, struct live *live);

void watch_free(struct watch *watch);

#endif
