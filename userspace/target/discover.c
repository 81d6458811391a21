/* SPDX-License-Identifier: Apache-2.0 */
#include "target/discover.h"

#include "target/maps.h"
#include "target/proc.h"

#define STATUS_SIZE 4096 /* 1.5 KiB are usual */

struct jvm_search {
	int (*found)(pid_t pid, void *ctx);
	void *ctx;
};

static int report_if_jvm(pid_t pid, void *ctx)
{
	const struct jvm_search *search = ctx;
	struct maps maps;
	int is_jvm;

	if (maps_read(pid, &maps))
		return 0;
	is_jvm = maps_find_file(&maps, "libjvm.so") != NULL;
	maps_free(&maps);
	return is_jvm ? search->found(pid, search->ctx) : 0;
}

int discover_jvms(int (*found)(pid_t pid, void *ctx), void *ctx)
{
	struct jvm_search search = { .found = found, .ctx = ctx };

	return proc_each("/proc", report_if_jvm, &search);
}

struct ns_pid_search {
	pid_t wanted;
	pid_t found;
	unsigned int count;
};

static int count_if_wanted(pid_t pid, void *ctx)
{
	struct ns_pid_search *search = ctx;
	char status[STATUS_SIZE];
	unsigned int levels;

	if (proc_read(pid, pid, "status", status, sizeof(status)) < 0)
		return 0;
	if (proc_status_ns_pid(status, &levels) == search->wanted && levels > 1) {
		search->found = pid;
		search->count++;
	}
	return 0;
}

pid_t discover_by_ns_pid(pid_t ns_pid)
{
	struct ns_pid_search search = { .wanted = ns_pid };

	proc_each("/proc", count_if_wanted, &search);
	return search.count == 1 ? search.found : 0;
}
