/* SPDX-License-Identifier: Apache-2.0 */
#include "target/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/proc.h"

#define NS_PER_S      1000000000ll
#define NS_PER_US     1000ll
#define FILE_MAX      (1u << 20)
#define STAT_MAX      4096
#define LEVELS_MAX    16
#define MOUNT_FIELDS  5
#define NO_LIMIT_FROM (1ll << 62) /* version 1 says a number of pages that no machine has */
#define USUAL_SHARES  1024

static const char *const names[CGROUP_CONTROLLERS] = {
	[CGROUP_CPU] = "cpu",
	[CGROUP_CPUACCT] = "cpuacct",
	[CGROUP_MEMORY] = "memory",
};

/* ---- where */

/* Whether a name is in a list with commas. */
static bool is_in(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

/* One file system: "36 31 0:33 ROOT PLACE options fields... - TYPE source OPTIONS". */
struct mount {
	const char *root;
	const char *place;
	const char *type;
	const char *options;
};

static bool split_mount(char *line, struct mount *out)
{
	char *behind = strstr(line, " - "), *fields[MOUNT_FIELDS] = { NULL };

	if (!behind)
		return false;
	*behind = 0;
	behind += strlen(" - ");
	for (int i = 0; i < MOUNT_FIELDS; i++)
		fields[i] = strsep(&line, " ");
	out->root = fields[3];
	out->place = fields[4];
	out->type = strsep(&behind, " ");
	strsep(&behind, " ");
	out->options = behind;
	return out->place && out->type && out->options;
}

/* The group that is called path in this tree, as a folder. Not what is above a namespace. */
static void set_place(struct cgroup_place *place, int version, const struct mount *mount,
		      const char *path)
{
	size_t root = strlen(mount->root);
	int len;

	if (strcmp(mount->root, "/") != 0) {
		if (strncmp(path, mount->root, root) != 0 || (path[root] && path[root] != '/'))
			return;
		path += root;
	}
	if (strstr(path, "/..") || !path[0] || !strcmp(path, "/"))
		return;
	len = snprintf(place->own, sizeof(place->own), "%s%s", mount->place, path);
	if (len < 0 || len >= (int)sizeof(place->own))
		return;
	snprintf(place->top, sizeof(place->top), "%s", mount->place);
	memcpy(place->at, place->own, sizeof(place->at));
	place->version = version;
}

/* "4:memory:/path", and for version 2 "0::/path": the path, or NULL. groups is left as it was. */
static char *path_of(const char *groups, const char *controller)
{
	for (const char *line = groups; line && *line;) {
		const char *end = strchrnul(line, '\n');
		const char *list = memchr(line, ':', (size_t)(end - line));
		const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
		char text[64];

		if (path && path - list < (long)sizeof(text)) {
			snprintf(text, sizeof(text), "%.*s", (int)(path - list - 1), list + 1);
			if (*controller ? is_in(text, controller) : !*text)
				return strndup(path + 1, (size_t)(end - path - 1));
		}
		line = *end ? end + 1 : NULL;
	}
	return NULL;
}

static void look_at_mount(const struct mount *mount, const char *groups, struct cgroup *out)
{
	bool is_second = !strcmp(mount->type, "cgroup2");

	if (!is_second && strcmp(mount->type, "cgroup") != 0)
		return;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
		char *path;

		/* A controller is in one of the trees; where it is in version 1, that is right. */
		if (out->place[i].version == 1 || (!is_second && !is_in(mount->options, names[i])))
			continue;
		path = path_of(groups, is_second ? "" : names[i]);
		if (path)
			set_place(&out->place[i], is_second ? 2 : 1, mount, path);
		free(path);
	}
}

bool cgroup_of_text(char *mountinfo, char *groups, struct cgroup *out)
{
	bool found = false;
	struct mount mount;
	char *line;

	*out = (struct cgroup){ 0 };
	while ((line = strsep(&mountinfo, "\n")))
		if (split_mount(line, &mount))
			look_at_mount(&mount, groups, out);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		found |= out->place[i].version != 0;
	return found;
}

bool cgroup_of_pid(pid_t pid, struct cgroup *out)
{
	char *mountinfo = NULL, *groups = NULL;
	bool found = false;

	if (!proc_read_all(getpid(), "mountinfo", FILE_MAX, &mountinfo) &&
	    !proc_read_all(pid, "cgroup", FILE_MAX, &groups))
		found = cgroup_of_text(mountinfo, groups, out);
	free(mountinfo);
	free(groups);
	return found;
}

/* ---- files */

static bool read_text(const char *folder, const char *name, char *to, size_t size)
{
	char path[CGROUP_PATH_MAX + 64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, to, size - 1);
	close(fd);
	to[len > 0 ? len : 0] = 0;
	return len > 0;
}

/* "max" is no limit. */
static int64_t number_at(const char *text)
{
	char *end;
	long long value;

	if (!strncmp(text, "max", 3))
		return CGROUP_NO_LIMIT;
	errno = 0;
	value = strtoll(text, &end, 10);
	return end == text || errno ? CGROUP_NOT_KNOWN : value;
}

static int64_t read_number(const char *folder, const char *name)
{
	char text[64];

	return read_text(folder, name, text, sizeof(text)) ? number_at(text) : CGROUP_NOT_KNOWN;
}

/* A limit of version 1 that is larger than any machine is none. */
static int64_t read_limit(const char *folder, const char *name)
{
	int64_t value = read_number(folder, name);

	return value >= NO_LIMIT_FROM ? CGROUP_NO_LIMIT : value;
}

/* The number behind a key at the start of a line, times a unit. */
static int64_t keyed(const char *text, const char *key, int64_t unit)
{
	size_t len = strlen(key);
	int64_t value;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) != 0 || line[len] != ' ')
			continue;
		value = number_at(line + len + 1);
		if (value < 0 || __builtin_mul_overflow(value, unit, &value))
			return CGROUP_NOT_KNOWN;
		return value;
	}
	return CGROUP_NOT_KNOWN;
}

/* ---- limits */

/* The CPU time of a group in each period, as both versions have it. */
static void read_quota(const struct cgroup_place *place, const char *folder, int64_t *quota_us,
		       int64_t *period_us)
{
	char text[64], *space;

	*quota_us = *period_us = CGROUP_NOT_KNOWN;
	if (place->version == 1) {
		*quota_us = read_number(folder, "cpu.cfs_quota_us");
		*period_us = read_number(folder, "cpu.cfs_period_us");
	} else if (read_text(folder, "cpu.max", text, sizeof(text))) {
		space = strchr(text, ' ');
		*quota_us = number_at(text);
		*period_us = space ? number_at(space + 1) : CGROUP_NOT_KNOWN;
	}
}

static int64_t cpu_limit(const struct cgroup_place *place, const char *folder)
{
	int64_t quota_us, period_us;

	read_quota(place, folder, &quota_us, &period_us);
	return quota_us;
}

static int64_t memory_limit(const struct cgroup_place *place, const char *folder)
{
	return read_limit(folder, place->version == 1 ? "memory.limit_in_bytes" : "memory.max");
}

typedef int64_t limit_fn(const struct cgroup_place *place, const char *folder);

/* Goes up to the first group with a limit; its own, when there is none. */
static void find_limit(struct cgroup_place *place, limit_fn *limit)
{
	char folder[CGROUP_PATH_MAX], *slash;

	memcpy(place->at, place->own, sizeof(place->at));
	memcpy(folder, place->own, sizeof(folder));
	for (int level = 0; level < LEVELS_MAX && strlen(folder) > strlen(place->top); level++) {
		if (limit(place, folder) > 0) {
			memcpy(place->at, folder, sizeof(place->at));
			return;
		}
		slash = strrchr(folder, '/');
		if (!slash)
			return;
		*slash = 0;
	}
}

/* The kernel's own conversion, the other way: 1 to 10,000 are 2 to 262,144. */
static int64_t shares_of_weight(int64_t weight)
{
	return weight < 1 || weight > 10000 ? CGROUP_NOT_KNOWN : 2 + (weight - 1) * 262142 / 9999;
}

static void read_cpu_limits(const struct cgroup_place *place, struct cgroup_limits *out)
{
	read_quota(place, place->at, &out->cpu_quota_us, &out->cpu_period_us);
	if (place->version == 1) {
		out->cpu_shares = read_number(place->own, "cpu.shares");
		return;
	}
	out->cpu_shares = read_number(place->own, "cpu.weight");
	if (out->cpu_shares == 100)
		out->cpu_shares = USUAL_SHARES;
	else if (out->cpu_shares != CGROUP_NOT_KNOWN)
		out->cpu_shares = shares_of_weight(out->cpu_shares);
}

static void read_memory_limits(const struct cgroup_place *place, struct cgroup_limits *out)
{
	int64_t swap;

	out->memory_bytes = memory_limit(place, place->at);
	if (place->version == 1) {
		out->memory_soft_bytes = read_limit(place->at, "memory.soft_limit_in_bytes");
		out->swap_bytes = read_limit(place->at, "memory.memsw.limit_in_bytes");
		return;
	}
	out->memory_soft_bytes = read_number(place->at, "memory.low");
	swap = read_number(place->at, "memory.swap.max");
	if (swap < 0 || out->memory_bytes < 0)
		out->swap_bytes = swap;
	else if (__builtin_add_overflow(swap, out->memory_bytes, &out->swap_bytes))
		out->swap_bytes = CGROUP_NO_LIMIT;
}

void cgroup_read_limits(struct cgroup *group, struct cgroup_limits *out)
{
	struct cgroup_place *cpu = &group->place[CGROUP_CPU];
	struct cgroup_place *memory = &group->place[CGROUP_MEMORY];

	*out = (struct cgroup_limits){ CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN,
				       CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN };
	if (cpu->version) {
		find_limit(cpu, cpu_limit);
		read_cpu_limits(cpu, out);
	}
	if (memory->version) {
		find_limit(memory, memory_limit);
		read_memory_limits(memory, out);
	}
}

/* ---- usage */

static void read_cpu_time(const struct cgroup_place *place, struct cgroup_usage *out)
{
	int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	char text[STAT_MAX];

	if (place->version == 1) {
		out->cpu_ns = read_number(place->own, "cpuacct.usage");
		if (!read_text(place->own, "cpuacct.stat", text, sizeof(text)))
			return;
		out->cpu_user_ns = keyed(text, "user", tick_ns);
		out->cpu_system_ns = keyed(text, "system", tick_ns);
	} else if (read_text(place->own, "cpu.stat", text, sizeof(text))) {
		out->cpu_ns = keyed(text, "usage_usec", NS_PER_US);
		out->cpu_user_ns = keyed(text, "user_usec", NS_PER_US);
		out->cpu_system_ns = keyed(text, "system_usec", NS_PER_US);
	}
}

static void read_throttling(const struct cgroup_place *place, struct cgroup_usage *out)
{
	char text[STAT_MAX];

	if (!read_text(place->at, "cpu.stat", text, sizeof(text)))
		return;
	out->periods = keyed(text, "nr_periods", 1);
	out->throttled_periods = keyed(text, "nr_throttled", 1);
	out->throttled_ns = place->version == 1 ? keyed(text, "throttled_time", 1)
						: keyed(text, "throttled_usec", NS_PER_US);
}

static void read_memory(const struct cgroup_place *place, struct cgroup_usage *out)
{
	char text[STAT_MAX];
	int64_t swap;

	if (place->version == 1) {
		out->memory_bytes = read_number(place->at, "memory.usage_in_bytes");
		out->swap_bytes = read_number(place->at, "memory.memsw.usage_in_bytes");
		out->memory_refused = read_number(place->at, "memory.failcnt");
		return;
	}
	out->memory_bytes = read_number(place->at, "memory.current");
	swap = read_number(place->at, "memory.swap.current");
	if (swap >= 0 && out->memory_bytes >= 0 &&
	    !__builtin_add_overflow(swap, out->memory_bytes, &swap))
		out->swap_bytes = swap;
	if (read_text(place->at, "memory.events", text, sizeof(text)))
		out->memory_refused = keyed(text, "max", 1);
}

void cgroup_read_usage(const struct cgroup *group, struct cgroup_usage *out)
{
	const struct cgroup_place *place = group->place;

	*out = (struct cgroup_usage){ CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN,
				      CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN,
				      CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN, CGROUP_NOT_KNOWN };
	if (place[CGROUP_CPUACCT].version)
		read_cpu_time(&place[CGROUP_CPUACCT], out);
	if (place[CGROUP_CPU].version)
		read_throttling(&place[CGROUP_CPU], out);
	if (place[CGROUP_MEMORY].version)
		read_memory(&place[CGROUP_MEMORY], out);
}
