/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_SMAPS_H
#define JVMSCOPE_SMAPS_H

#include "target/maps.h"

/* What /proc/PID/smaps says of a mapping beyond its line of maps. Bytes. */
struct smap {
	uint64_t rss;
	uint64_t pss; /* rss, each page divided by how many map it */
	uint64_t swap;
	uint64_t hugetlb;   /* huge pages of hugetlbfs, which rss leaves out */
	uint64_t page_size; /* 2 MiB with hugetlbfs */
	bool writable;
};

/* All mappings of one process, sorted by start: maps.items[i] and items[i] speak of the same. */
struct smaps {
	struct maps maps;
	struct smap *items; /* owned */
};

/*
 * Reads /proc/PID/smaps: the kernel walks all page tables, some 3 ms for 1 GiB. Returns 0, -ESRCH,
 * -EACCES, -EBADMSG (a line that cannot be parsed), -ENOMEM. On error *out is untouched.
 */
int smaps_read(pid_t pid, struct smaps *out);

/* The same from text, for tests and fuzzing. text is taken over also on failure (freed). */
int smaps_parse(char *text, struct smaps *out);

/* Rss of /proc/PID/smaps_rollup: the sum of rss, by another walk. Returns 0 or a negative errno. */
int smaps_rollup_rss(pid_t pid, uint64_t *out);

/* The most that was resident so far, by the kernel's VmHWM. 0 or a negative errno. */
int smaps_peak_rss(pid_t pid, uint64_t *out);

void smaps_free(struct smaps *smaps);

#endif
