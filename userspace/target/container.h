/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CONTAINER_H
#define JVMSCOPE_CONTAINER_H

#include <sys/types.h>

#define CONTAINER_ID_MAX  65 /* 64 hex digits */
#define CONTAINER_POD_MAX 37 /* uuid with dashes */

/* "" where there is none. */
struct container {
	char id[CONTAINER_ID_MAX];
	char pod_uid[CONTAINER_POD_MAX];
};

/* From /proc/PID/cgroup. Never fails: a process outside containers has empty members. */
void container_of_pid(pid_t pid, struct container *out);

/* From one cgroup path; the first path with an id wins. Fills only what the path names. */
void container_of_path(const char *path, struct container *out);

#endif
