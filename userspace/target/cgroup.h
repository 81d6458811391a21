/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TARGET_CGROUP_H
#define JVMSCOPE_TARGET_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What a control group lets a process use, and what it has used: of version 1, where each
 * controller has its own tree, and 2, also where both are mounted.
 *
 * Limits are those of the nearest group on the way up that has one: a pod's, where the container
 * has none. What is used of memory, and how often CPU time was withheld, is of the same group, so
 * that the two can be compared.
 */
#define CGROUP_PATH_MAX 512

enum cgroup_controller {
	CGROUP_CPU,
	CGROUP_CPUACCT, /* of version 1; the same as CGROUP_CPU in 2 */
	CGROUP_MEMORY,
	CGROUP_CONTROLLERS,
};

struct cgroup_place {
	int version;		   /* 1 or 2; 0: it is in none, or in the root of all */
	char top[CGROUP_PATH_MAX]; /* where the tree is mounted */
	char own[CGROUP_PATH_MAX]; /* the process's group */
	char at[CGROUP_PATH_MAX];  /* the group whose limit counts: own or above */
};

struct cgroup {
	struct cgroup_place place[CGROUP_CONTROLLERS];
};

/* Of limits: there is none. */
#define CGROUP_NO_LIMIT (-1)
/* Of anything: the group does not tell. */
#define CGROUP_NOT_KNOWN INT64_MIN

struct cgroup_limits {
	int64_t cpu_quota_us; /* in each period */
	int64_t cpu_period_us;
	int64_t cpu_shares; /* as version 1 counts: 1024 is the usual */
	int64_t memory_bytes;
	int64_t memory_soft_bytes;
	int64_t swap_bytes; /* memory and swap */
};

struct cgroup_usage {
	int64_t cpu_ns, cpu_user_ns, cpu_system_ns;
	int64_t periods; /* in which a quota counted */
	int64_t throttled_periods;
	int64_t throttled_ns;
	int64_t memory_bytes;
	int64_t swap_bytes;	/* memory and swap */
	int64_t memory_refused; /* times that the limit was hit */
};

/*
 * Finds the groups of a process. Returns false when it is in none but roots, or they cannot be
 * seen from here. Never logs.
 */
bool cgroup_of_pid(pid_t pid, struct cgroup *out);

/* The same from text: /proc/self/mountinfo, and the process's cgroup. Both are cut up. */
bool cgroup_of_text(char *mountinfo, char *groups, struct cgroup *out);

/* Looks for the groups whose limits count, too. */
void cgroup_read_limits(struct cgroup *group, struct cgroup_limits *out);
void cgroup_read_usage(const struct cgroup *group, struct cgroup_usage *out);

#endif
