/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jvmlist.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "jvm/jvm.h"
#include "target/discover.h"
#include "target/maps.h"
#include "target/target.h"

static void read_user(pid_t pid, struct jvm_entry *out)
{
	const struct passwd *user;
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st))
		return;
	user = getpwuid(st.st_uid);
	if (user)
		snprintf(out->user, sizeof(out->user), "%s", user->pw_name);
	else
		snprintf(out->user, sizeof(out->user), "%u", st.st_uid);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void set_start_time(uint64_t start_time_ns, struct jvm_entry *out)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	out->start_time_ns = start_time_ns;
	out->uptime_ns = now_ns > start_time_ns ? now_ns - start_time_ns : 0;
}

/* Start time of any process: field 22 of its stat file, in ticks since boot. */
static void read_public_times(pid_t pid, struct jvm_entry *out)
{
	uint64_t boot_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	char path[32];
	char stat[512] = "";
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(stat, sizeof(stat), file))
		stat[0] = 0;
	fclose(file);
	/* The name in field 2 may hold anything, also blanks and brackets. */
	at = strrchr(stat, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		set_start_time(boot_ns + strtoull(at, NULL, 10) * 1000000000ull /
						 (uint64_t)sysconf(_SC_CLK_TCK),
			       out);
}

/* What anybody may read of a process whose memory is closed to us. */
static void read_public(pid_t pid, struct jvm_entry *out)
{
	const struct target public = { .pid = pid, .pidfd = pidfd_open(pid, 0), .mem = -1 };

	if (public.pidfd < 0)
		return;
	jvm_main_class(&public, NULL, out->main_class, sizeof(out->main_class));
	read_public_times(pid, out);
	close(public.pidfd);
}

static const char *reason_of(int err)
{
	switch (-err) {
	case ENOENT:
		return "no HotSpot tables in libjvm";
	case EAGAIN:
		return "still starting";
	case EPROTO:
		return "a field of its tables is missing";
	case EACCES:
	case EPERM:
		return "no right to read it";
	case ESRCH:
		return "it has ended";
	default:
		return "it cannot be read";
	}
}

static void read_jvm(const struct target *target, const struct maps *maps, struct jvm_entry *out)
{
	struct jvm *jvm;
	int err;

	err = jvm_open(target, maps, &jvm);
	jvm_main_class(target, err ? NULL : jvm, out->main_class, sizeof(out->main_class));
	if (err) {
		snprintf(out->reason, sizeof(out->reason), "%s", reason_of(err));
		return;
	}
	snprintf(out->version, sizeof(out->version), "%s", jvm_version(jvm));
	snprintf(out->gc_name, sizeof(out->gc_name), "%s", jvm_gc_name(jvm));
	out->recordable = true;
	jvm_close(jvm);
}

void jvm_entry_read(pid_t pid, struct jvm_entry *out)
{
	struct target *target = NULL;
	struct maps maps = { 0 };
	int err;

	*out = (struct jvm_entry){ .pid = pid, .container_pid = pid };
	read_user(pid, out);
	container_of_pid(pid, &out->container);

	/* target_open would log what is no failure here. */
	err = maps_read(pid, &maps);
	if (!err)
		err = target_open(pid, &target);
	if (err) {
		snprintf(out->reason, sizeof(out->reason), "%s", reason_of(err));
		read_public(pid, out);
		maps_free(&maps);
		return;
	}
	out->container_pid = target->ns_pid;
	set_start_time(target->start_time_ns, out);
	read_jvm(target, &maps, out);
	target_close(target);
	maps_free(&maps);
}

static int add(pid_t pid, void *ctx)
{
	struct jvm_list *list = ctx;

	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 16;
		struct jvm_entry *items = reallocarray(list->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		list->items = items;
		list->capacity = capacity;
	}
	jvm_entry_read(pid, &list->items[list->count++]);
	return 0;
}

static bool is_called_java(pid_t pid)
{
	char path[32];
	char name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = 0;
	fclose(file);
	return !strcmp(name, "java\n");
}

/* Processes that discover_jvms had to skip, but whose name says what they are. */
static int add_unreadable(struct jvm_list *list)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		struct maps maps = { 0 };
		uint64_t pid;

		if (text_number(entry->d_name, 1, INT_MAX, &pid) || !is_called_java((pid_t)pid))
			continue;
		if (maps_read((pid_t)pid, &maps) == -EACCES)
			err = add((pid_t)pid, list);
		maps_free(&maps);
	}
	closedir(proc);
	return err;
}

static int by_pid(const void *a, const void *b)
{
	const struct jvm_entry *left = a;
	const struct jvm_entry *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

int jvm_list_read(struct jvm_list *out)
{
	struct jvm_list list = { 0 };
	int err;

	err = discover_jvms(add, &list);
	if (!err)
		err = add_unreadable(&list);
	if (err) {
		jvm_list_free(&list);
		return err;
	}
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), by_pid);
	*out = list;
	return 0;
}

void jvm_list_free(struct jvm_list *list)
{
	free(list->items);
	*list = (struct jvm_list){ 0 };
}
