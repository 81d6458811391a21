/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JVM_PERFDATA_H
#define JVMSCOPE_JVM_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The JVM's own performance counters (PerfData, the file hsperfdata), as bytes: a prologue of 32
 * bytes, then entries {length, name offset, vector length, type, flags, unit, variability, value
 * offset} with a name and a value. 190 entries in 12 of 32 KiB are usual.
 *
 * The JVM appends entries and never moves one. The bytes may be any: what does not fit is left
 * out.
 */
struct perfdata_entry {
	uint32_t name;	 /* where it begins; it ends with a NUL */
	uint32_t value;	 /* the same */
	uint32_t length; /* 0: a number of 8 bytes; else a text of so many, with or without NUL */
};

struct perfdata {
	const uint8_t *bytes; /* borrowed */
	uint32_t size;
	struct perfdata_entry *entries; /* owned */
	uint32_t count;
	uint32_t said; /* entries there are, as the prologue says */
};

#define PERFDATA_MIN 32u	/* the prologue */
#define PERFDATA_MAX (4u << 20) /* PerfDataMemorySize: 32 KiB, if not set */

/* How many bytes are in use, by the first PERFDATA_MIN of them; 0 when they are no prologue. */
uint32_t perfdata_used(const void *prologue);

/*
 * Finds the entries. A zeroed struct is empty; what was in it before is freed. Returns 0, -ENOENT
 * (no counters, or the JVM is still making them), or -ENOMEM.
 */
int perfdata_parse(const void *bytes, uint32_t size, struct perfdata *out);
void perfdata_free(struct perfdata *data);

/* NULL when there is none. Valid until the next perfdata_parse(). */
const struct perfdata_entry *perfdata_find(const struct perfdata *data, const char *name);

/* The number of an entry; false when it is a text. */
bool perfdata_number(const struct perfdata *data, const struct perfdata_entry *entry,
		     int64_t *value);

/* The text of an entry, cut to size - 1 bytes; false, and "", when it is a number. */
bool perfdata_text(const struct perfdata *data, const struct perfdata_entry *entry, char *to,
		   size_t size);

#endif
