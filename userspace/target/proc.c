/* SPDX-License-Identifier: Apache-2.0 */
#include "target/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE  96
#define STAT_SIZE  1024
#define READ_START (64ul * 1024)

struct id_list {
	pid_t *ids; /* owned */
	size_t count;
	size_t capacity;
};

static int list_add(struct id_list *list, pid_t id)
{
	size_t capacity = list->capacity ? list->capacity * 2 : 256;
	pid_t *ids;

	if (list->count == list->capacity) {
		ids = reallocarray(list->ids, capacity, sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		list->ids = ids;
		list->capacity = capacity;
	}
	list->ids[list->count++] = id;
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a;
	pid_t y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* The number a name in /proc is, or 0. */
static pid_t id_of_name(const char *name)
{
	char *end;
	long id;

	if (!isdigit((unsigned char)name[0]))
		return 0;
	errno = 0;
	id = strtol(name, &end, 10);
	return *end || errno || id > INT_MAX ? 0 : (pid_t)id;
}

static int list_folder(const char *folder, struct id_list *list)
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);
	int err = 0;
	pid_t id;

	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (entry = readdir(dir))) {
		id = id_of_name(entry->d_name);
		if (id)
			err = list_add(list, id);
	}
	closedir(dir);
	return err;
}

int proc_each(const char *folder, int (*found)(pid_t id, void *ctx), void *ctx)
{
	struct id_list list = { 0 };
	int err = list_folder(folder, &list);

	if (list.count > 1)
		qsort(list.ids, list.count, sizeof(*list.ids), compare_ids);
	for (size_t i = 0; !err && i < list.count; i++)
		err = found(list.ids[i], ctx);
	free(list.ids);
	return err;
}

static int open_of_thread(pid_t pid, pid_t tid, const char *name, int flags)
{
	char path[PATH_SIZE];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

ssize_t proc_read(pid_t pid, pid_t tid, const char *name, char *to, size_t size)
{
	int fd = open_of_thread(pid, tid, name, O_RDONLY);
	size_t len = 0;
	ssize_t got;

	if (fd < 0)
		return fd;
	do {
		got = read(fd, to + len, size - 1 - len);
		if (got > 0)
			len += (size_t)got;
	} while (got > 0 && len < size - 1);
	if (got < 0)
		got = -errno;
	close(fd);
	if (got < 0)
		return got;
	to[len] = '\0';
	return (ssize_t)len;
}

const char *proc_stat_field(const char *stat, unsigned int n)
{
	/* The name in field 2 may hold anything, also ") R 1". */
	const char *at = strrchr(stat, ')');

	for (unsigned int field = 2; at && field < n; field++) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	return at;
}

static int is_ended(pid_t pid, pid_t tid)
{
	char stat[STAT_SIZE];
	const char *state;

	if (proc_read(pid, tid, "stat", stat, sizeof(stat)) < 0)
		return 1;
	state = proc_stat_field(stat, 3);
	return !state || *state == 'Z' || *state == 'X' || *state == 'x';
}

struct live_search {
	pid_t pid;
	pid_t found;
};

static int take_if_live(pid_t tid, void *ctx)
{
	struct live_search *search = ctx;

	if (is_ended(search->pid, tid))
		return 0;
	search->found = tid;
	return 1;
}

pid_t proc_live_thread(pid_t pid)
{
	struct live_search search = { .pid = pid, .found = pid };
	char path[PATH_SIZE];

	if (!is_ended(pid, pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	proc_each(path, take_if_live, &search);
	return search.found;
}

int proc_open(pid_t pid, const char *name, int flags)
{
	return open_of_thread(pid, proc_live_thread(pid), name, flags);
}

/* Doubles *text until fd is at its end. *len is what was read. */
static int read_to_end(int fd, size_t max, char **text, size_t *len)
{
	size_t size = READ_START;
	ssize_t got = 1;
	char *bigger;

	*len = 0;
	while (got > 0) {
		if (!*text || *len == size - 1) {
			size = *text ? size * 2 : size;
			bigger = size > max ? NULL : realloc(*text, size);
			if (!bigger)
				return size > max ? -E2BIG : -ENOMEM;
			*text = bigger;
		}
		got = read(fd, *text + *len, size - 1 - *len);
		if (got > 0)
			*len += (size_t)got;
	}
	return got < 0 ? -errno : 0;
}

int proc_read_all(pid_t pid, const char *name, size_t max, char **out)
{
	int fd = proc_open(pid, name, O_RDONLY);
	char *text = NULL;
	size_t len;
	int err;

	if (fd < 0)
		return fd;
	err = read_to_end(fd, max, &text, &len);
	close(fd);
	if (err) {
		free(text);
		return err;
	}
	text[len] = '\0';
	*out = text;
	return 0;
}

/* What follows "KEY:" at the start of a line, or NULL. */
static const char *status_values(const char *status, const char *key)
{
	size_t len = strlen(key);
	const char *line = status;

	while (line) {
		if (!strncmp(line, key, len) && line[len] == ':')
			return line + len + 1;
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return NULL;
}

/* The number at *at, which is moved behind it; false at the end of the line. */
static int next_number(const char **at, long long *value)
{
	char *end;

	while (**at == ' ' || **at == '\t')
		(*at)++;
	if (!isdigit((unsigned char)**at))
		return 0;
	*value = strtoll(*at, &end, 10);
	*at = end;
	return 1;
}

long long proc_status_number(const char *status, const char *key, unsigned int n)
{
	const char *at = status_values(status, key);
	long long value = -1;

	for (unsigned int i = 0; at && i <= n; i++) {
		if (!next_number(&at, &value))
			return -1;
	}
	return value;
}

pid_t proc_status_ns_pid(const char *status, unsigned int *levels)
{
	const char *at = status_values(status, "NSpid");
	long long value = -1;
	unsigned int count = 0;

	while (at && next_number(&at, &value))
		count++;
	if (levels)
		*levels = count;
	return value < 0 || value > INT_MAX ? -1 : (pid_t)value;
}
