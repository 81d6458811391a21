/* SPDX-License-Identifier: Apache-2.0 */
#include "live/needs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "live/events.h"
#include "live/live.h"
#include "live/procfile.h"

#define BTF_PATH      "/sys/kernel/btf/vmlinux"
#define LOCKDOWN_PATH "/sys/kernel/security/lockdown"
#define UPROBE_PATH   "/sys/bus/event_source/devices/uprobe/type"
#define TRACEFS_PATH  "/sys/kernel/tracing/available_events"
#define DEBUGFS_PATH  "/sys/kernel/debug/tracing/available_events"
#define PID_NS_PATH   "/proc/self/ns/pid"
#define PID_NS_HOST   0xeffffffcu /* PROC_PID_INIT_INO: the inode of the first one, always */

/* linux/capability.h numbers; CAP_SYS_ADMIN stands for those after it. */
#define CAP_BIT_SYS_ADMIN 21

static const struct capability {
	unsigned int bit;
	const char *name;
	bool needed; /* else: something is missing without it, and text says what */
	bool admin;  /* CAP_SYS_ADMIN does as well */
	const char *text;
} capabilities[] = {
	{ 39, "CAP_BPF", true, true, "BPF programs can be loaded" },
	{ 38, "CAP_PERFMON", true, true, "programs may read memory and sample all CPUs" },
	{ 19, "CAP_SYS_PTRACE", true, false, "memory and mappings of other users' processes" },
	{ 2, "CAP_DAC_READ_SEARCH", false, false, "files of other users' processes" },
	{ 40, "CAP_CHECKPOINT_RESTORE", false, true, "files that were deleted or replaced" },
	{ 34, "CAP_SYSLOG", false, false, "names of kernel functions" },
};

static uint64_t effective_capabilities(void)
{
	int64_t value = 0;

	procfile_number("/proc/self/status", "CapEff:", 16, &value);
	return (uint64_t)value;
}

static bool has(uint64_t set, const struct capability *c)
{
	return set >> c->bit & 1 || (c->admin && set >> CAP_BIT_SYS_ADMIN & 1);
}

/*
 * The kernel's lockdown mode between brackets. JVMSCOPE_LOCKDOWN names another file, for tests.
 */
static bool locked_down(void)
{
	const char *path = getenv("JVMSCOPE_LOCKDOWN");
	char line[128] = "";
	FILE *file = fopen(path ? path : LOCKDOWN_PATH, "re");

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return strstr(line, "[confidentiality]") != NULL;
}

/* BPF programs know processes by the pids of the host: with others they would sample others. */
static bool has_host_pids(void)
{
	struct stat st;

	return stat(PID_NS_PATH, &st) || st.st_ino == PID_NS_HOST;
}

int needs_check(void)
{
	uint64_t set = effective_capabilities();

	if (access(BTF_PATH, R_OK)) {
		log_error("kernel: no BTF (%s: %s): a kernel with CONFIG_DEBUG_INFO_BTF is needed",
			  BTF_PATH, strerror(errno));
		return -ENOTSUP;
	}
	if (locked_down()) {
		log_error("kernel: lockdown mode is confidentiality: BPF may not read memory there,"
			  " boot with lockdown=integrity or none");
		return -ENOTSUP;
	}
	if (!has_host_pids()) {
		log_error("pid namespace: not the host's, so its pids are not those the kernel "
			  "samples: run on the host, or in a container with the host's pids");
		return -ENOTSUP;
	}
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
		if (!capabilities[i].needed || has(set, &capabilities[i]))
			continue;
		log_error("%s: missing (%s): run as root, or give the capability",
			  capabilities[i].name, capabilities[i].text);
		return -EPERM;
	}
	return 0;
}

void needs_explain_load(int err, const char *libbpf_line)
{
	if (err == -EPERM || err == -EACCES)
		log_error("BPF: loading refused: %s: run as root, and see that no seccomp or LSM "
			  "rule denies bpf()",
			  strerror(-err));
	else
		log_error("BPF: programs cannot be loaded: %s%s%s (kernel 6.1 or later is needed; "
			  "-v says more)",
			  strerror(-err), libbpf_line[0] ? ": " : "", libbpf_line);
}

/* ---- doctor */

struct list {
	struct live_need *out;
	size_t max;
	size_t count;
};

static void add(struct list *list, const char *name, enum live_need_state state, const char *text)
{
	struct live_need *need;

	if (list->count == list->max)
		return;
	need = &list->out[list->count++];
	*need = (struct live_need){ .name = name, .state = state };
	snprintf(need->text, sizeof(need->text), "%.*s", (int)sizeof(need->text) - 1, text);
}

static void add_capabilities(struct list *list)
{
	uint64_t set = effective_capabilities();
	char line[160];

	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
		const struct capability *c = &capabilities[i];
		enum live_need_state state = LIVE_NEED_OK;

		if (!has(set, c))
			state = c->needed ? LIVE_NEED_MISSING : LIVE_NEED_DEGRADED;
		snprintf(line, sizeof(line), "%s%s", c->text,
			 state == LIVE_NEED_OK ? "" : ": not available, run as root");
		add(list, c->name, state, line);
	}
}

/* Whether a release such as "6.1.0-18-amd64" is 6.1 or newer. What it can do is tried, not told. */
static bool is_new_enough(const char *release)
{
	char *end;
	unsigned long major = strtoul(release, &end, 10);
	unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return major > 6 || (major == 6 && minor >= 1);
}

static void add_release(struct list *list)
{
	struct utsname name;
	char line[160];
	bool good;

	if (uname(&name))
		return;
	good = is_new_enough(name.release);
	snprintf(line, sizeof(line), "%.64s%s", name.release,
		 good ? "" : ": not tried on those before 6.1; use that or a newer one");
	add(list, "kernel", good ? LIVE_NEED_OK : LIVE_NEED_DEGRADED, line);
}

/* What events other than cpu need. */
static void add_probes(struct list *list)
{
	bool uprobes = access(UPROBE_PATH, R_OK) == 0;
	bool tracefs = access(TRACEFS_PATH, R_OK) == 0 || access(DEBUGFS_PATH, R_OK) == 0;

	add(list, "uprobes", uprobes ? LIVE_NEED_OK : LIVE_NEED_DEGRADED,
	    uprobes ? "functions and USDT probes of a JVM can be watched"
		    : "none, so native and class cannot be recorded: use a kernel with "
		      "CONFIG_UPROBE_EVENTS");
	add(list, "tracefs", tracefs ? LIVE_NEED_OK : LIVE_NEED_DEGRADED,
	    tracefs ? "the kernel's tracepoints can be watched"
		    : "not readable, no event of -e needs it: mount -t tracefs tracefs "
		      "/sys/kernel/tracing");
}

static void add_kernel(struct list *list)
{
	bool btf = access(BTF_PATH, R_OK) == 0, locked = locked_down(), host = has_host_pids();
	char line[320];
	int err;

	add(list, "BTF", btf ? LIVE_NEED_OK : LIVE_NEED_MISSING,
	    btf ? BTF_PATH : "not there: use a kernel with CONFIG_DEBUG_INFO_BTF");
	add(list, "lockdown", locked ? LIVE_NEED_MISSING : LIVE_NEED_OK,
	    locked ? "confidentiality: BPF may not read memory, boot with lockdown=integrity or none"
		   : "does not keep BPF from reading memory");
	add(list, "pid namespace", host ? LIVE_NEED_OK : LIVE_NEED_MISSING,
	    host ? "the host's"
		 : "not the host's: run on the host, or in a container with the host's pids");
	if (!btf || locked)
		return;
	err = live_try_load(line, sizeof(line));
	if (!err)
		add(list, "BPF programs", LIVE_NEED_OK, "load on this kernel");
	else if (err == -EPERM || err == -EACCES)
		add(list, "BPF programs", LIVE_NEED_MISSING,
		    "loading is not permitted: run as root, and see that no LSM rule denies bpf()");
	else if (!line[0])
		add(list, "BPF programs", LIVE_NEED_MISSING, strerror(-err));
	else
		add(list, "BPF programs", LIVE_NEED_MISSING, line);
}

static void add_perf(struct list *list)
{
	int err = clock_allowed();
	struct sideband sideband;

	add(list, "perf cpu-clock", err ? LIVE_NEED_MISSING : LIVE_NEED_OK,
	    err ? "refused: run as root, or set kernel.perf_event_paranoid to 2 or less"
		: "samples all CPUs");
	if (clock_has_cycles())
		add(list, "perf cycles", LIVE_NEED_OK, "hardware cycle counter");
	else
		add(list, "perf cycles", LIVE_NEED_DEGRADED,
		    "no hardware cycle counter, so cpu-clock is used; give a virtual machine a "
		    "PMU to have one");
	err = sideband_open(&sideband);
	if (!err)
		sideband_close(&sideband);
	add(list, "perf mmap records", err ? LIVE_NEED_DEGRADED : LIVE_NEED_OK,
	    err ? "refused, so new libraries are noticed once a second: run as root"
		: "new libraries are noticed at once");
}

size_t live_needs(struct live_need *out, size_t max)
{
	struct list list = { .out = out, .max = max };

	add_release(&list);
	add_capabilities(&list);
	add_kernel(&list);
	add_perf(&list);
	add_probes(&list);
	return list.count;
}
