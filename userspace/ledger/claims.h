/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CLAIMS_H
#define JVMSCOPE_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

#include "model/ledger.h"

struct smaps;
struct target;

/*
 * Who owns which addresses of a process: each address belongs to the first who claims it. Then
 * the resident pages are counted, once each.
 *
 * The kernel merges neighbouring anonymous mappings, so an owner's range is hardly ever one line
 * of maps. Where a mapping has one owner, its Rss is taken; else its pages are looked at.
 */

#define CLAIMS_NAME_MAX	 48
#define CLAIMS_PARTS_MAX 256 /* names; what has no room is "others" */

struct claim {
	uint64_t start;
	uint64_t end;
	uint32_t part; /* index */
};

struct claim_part {
	enum rec_line line;
	char name[CLAIMS_NAME_MAX];
	struct rec_ledger_row row; /* count is set by whoever claims, the rest by claims_tally */
};

/* A zeroed struct is empty. */
struct claims {
	struct claim *items; /* owned; sorted, none overlaps */
	size_t count;
	size_t capacity;
	struct claim_part *parts; /* owned */
	size_t part_count;
	int err; /* -ENOMEM: claims are missing */
};

/*
 * Claims the pages of [start, end) that nobody has, for a part of a line. Returns the part, whose
 * count is the caller's; valid until the next call. NULL when memory is out.
 */
struct claim_part *claims_add(struct claims *claims, enum rec_line line, const char *name,
			      uint64_t start, uint64_t end);

/* The first range at or behind *start that nobody claims: moves *start, sets *end, up to limit. */
int claims_gap(const struct claims *claims, uint64_t limit, uint64_t *start, uint64_t *end);

/*
 * Counts the pages of each line, with what is left over as REC_LINE_UNEXPLAINED, and what smaps
 * and pagemap do not agree upon as REC_LINE_MOVED. Fills lines of *out and the parts' rows.
 * Returns 0 or a negative errno.
 */
int claims_tally(struct claims *claims, const struct smaps *smaps, const struct target *t,
		 struct rec_ledger *out);

void claims_free(struct claims *claims);

#endif
