/* SPDX-License-Identifier: Apache-2.0 */
#include "model/groups.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *prefix; /* of the thread's name */
	const char *group;
} groups[] = {
	/* names are cut at 15 bytes by the kernel; source: os::set_native_thread_name callers */
	{ "C1 CompilerThre", "jit" },
	{ "C2 CompilerThre", "jit" },
	{ "GC Thread", "gc" },
	{ "G1 ", "gc" },
	{ "ParGC", "gc" },
	{ "ZDirector", "gc" },
	{ "ZDriver", "gc" },
	{ "ZWorker", "gc" },
	{ "XWorker", "gc" },
	{ "RuntimeWorker", "gc" },
	{ "ZStat", "gc" },
	{ "ZUnmapper", "gc" },
	{ "ZUncommitter", "gc" },
	{ "Shenandoah", "gc" },
	{ "Concurrent Mark", "gc" },
	{ "VM Thread", "vm" },
	{ "VM Periodic Tas", "vm" },
	{ "Signal Dispatch", "vm" },
	{ "Service Thread", "vm" },
	{ "Monitor Deflati", "vm" },
	{ "Sweeper thread", "vm" },
	{ "Common-Cleaner", "java" },
	{ "Reference Handl", "java" },
	{ "Finalizer", "java" },
};

const char *groups_of_thread(const char *name, bool is_java)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (strncmp(name, groups[i].prefix, strlen(groups[i].prefix)) == 0)
			return groups[i].group;
	return is_java ? "java" : "native";
}
