/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MAPS_H
#define JVMSCOPE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One line of /proc/PID/maps. */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* into the file */
	uint64_t inode;
	uint64_t device; /* major << 32 | minor, as maps prints it (of the overlay, not of the
			    layer) */
	bool readable;
	bool executable;
	bool deleted;	  /* " (deleted)" was cut off path */
	const char *path; /* inside struct maps; "" when anonymous; "[vdso]" and the like */
};

/* All mappings of one process, sorted by start. */
struct maps {
	struct mapping *items; /* owned */
	size_t count;
	char *text; /* owned; paths point into it */
};

/*
 * Reads /proc/PID/maps. Returns 0, -ESRCH, -EACCES, -EBADMSG (a line that cannot be parsed),
 * -ENOMEM. On error *out is untouched. Does not log: a process may end at any time.
 */
int maps_read(pid_t pid, struct maps *out);

/* The same from text, for tests and fuzzing. text is taken over also on failure (freed). */
int maps_parse(char *text, struct maps *out);

/* The mapping that holds addr, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t addr);

/* The first mapping whose file is called name ("libjvm.so"), or NULL. */
const struct mapping *maps_find_file(const struct maps *maps, const char *name);

/*
 * Where code of this process is in the file it was mapped from. Returns 0, -ENOENT when nothing is
 * mapped there, or an error of maps_read().
 */
int maps_own_offset(const void *code, uint64_t *out);

void maps_free(struct maps *maps);

#endif
