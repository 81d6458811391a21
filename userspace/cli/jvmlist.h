/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JVMLIST_H
#define JVMSCOPE_JVMLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/container.h"

#define JVM_ENTRY_TEXT 96

/* One JVM of the host, with what may be read of it; texts are "" and numbers 0 where nothing is. */
struct jvm_entry {
	pid_t pid;
	pid_t container_pid;
	uint64_t start_time_ns; /* since the epoch */
	uint64_t uptime_ns;
	char user[JVM_ENTRY_TEXT]; /* name, or number when it has none */
	char version[JVM_ENTRY_TEXT];
	char gc_name[JVM_ENTRY_TEXT];
	char main_class[256];
	struct container container;
	bool recordable;	     /* Java frames can be read */
	char reason[JVM_ENTRY_TEXT]; /* why not */
};

/* A zeroed struct is a valid empty list. */
struct jvm_list {
	struct jvm_entry *items; /* owned; by pid */
	size_t count;
	size_t capacity;
};

/*
 * Finds the JVMs. Without the right to look into other users' processes those called java are
 * listed with what anybody may read. Returns 0, -ENOMEM or another negative errno of /proc.
 */
int jvm_list_read(struct jvm_list *out);

/* The same of one process. Never fails: what cannot be read stays empty. */
void jvm_entry_read(pid_t pid, struct jvm_entry *out);

void jvm_list_free(struct jvm_list *list);

#endif
