/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_IMAGES_H
#define JVMSCOPE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "live/tables.h"

struct image;
struct mapping;
struct target;

/*
 * The files that are mapped by the targets, each opened and its unwind rows installed once, also
 * when several targets or mappings share it.
 */
struct images {
	struct loaded_image **items; /* owned */
	size_t count;
	size_t capacity;
};

struct loaded_image {
	/* key: a file of a file system; the vDSO is the same in every process */
	uint64_t device;
	uint64_t inode;
	char *path;
	struct image *image;	  /* NULL: not ELF, or unreadable: then no rows, no names */
	struct table_image table; /* empty: no unwind rows */
	uint32_t users;
};

/*
 * The image behind a mapping, with one more user. NULL when memory is out; a file that cannot
 * be read gives an entry without image. Anonymous mappings have none: NULL too.
 */
struct loaded_image *images_get(struct images *images, struct tables *tables,
				const struct target *t, const struct mapping *mapping);

/* One user less; the last one frees it and its rows. NULL is allowed. */
void images_put(struct images *images, struct tables *tables, struct loaded_image *image);

/* Frees everything. */
void images_free(struct images *images, struct tables *tables);

#endif
