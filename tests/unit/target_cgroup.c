/* SPDX-License-Identifier: Apache-2.0 */
#include "target/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/unit.h"

/* Trees of groups are folders of our own. */

static char top[] = "/tmp/jvmscope-cgroup-XXXXXX";
static struct cgroup group;

static void setup(void)
{
	strcpy(top + strlen(top) - 6, "XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	CU_ASSERT(system(command) == 0);
}

static void put_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", top, folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s%s/%s", top, folder, name);
	file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static bool find(const char *mounts, const char *groups)
{
	char mount_text[1024], group_text[1024];

	snprintf(mount_text, sizeof(mount_text), "%s", mounts);
	snprintf(group_text, sizeof(group_text), "%s", groups);
	return cgroup_of_text(mount_text, group_text, &group);
}

static void groups_are_found_in_their_trees(void)
{
	static const char *const first =
		"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
		"32 31 0:29 / /cg/cpu rw shared:3 - cgroup cgroup rw,cpu,cpuacct\n"
		"35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n"
		"41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n";
	static const char *const second = "41 31 0:38 / /cg rw - cgroup2 cgroup2 rw\n";
	static const char *const inside = "41 31 0:38 /pod1 /cg rw - cgroup2 cgroup2 rw\n";
	static const struct {
		const char *mounts, *groups;
		int version; /* of the memory controller */
		const char *memory, *cpu;
	} cases[] = {
		{ first, "4:memory:/m/x\n2:cpu,cpuacct:/c\n0::/\n", 1, "/cg/memory/m/x",
		  "/cg/cpu/c" },
		{ first, "4:memory:/\n2:cpu,cpuacct:/c\n0::/\n", 0, "", "/cg/cpu/c" },
		/* Both trees are there, and the controller is in the second. */
		{ first, "2:cpu,cpuacct:/c\n0::/u\n", 2, "/cg/unified/u", "/cg/cpu/c" },
		{ second, "0::/a/b\n", 2, "/cg/a/b", "/cg/a/b" },
		{ inside, "0::/pod1/b\n", 2, "/cg/b", "/cg/b" },
		{ inside, "0::/pod1\n", 0, "", "" },
		{ inside, "0::/pod11/b\n", 0, "", "" },
		{ inside, "0::/other\n", 0, "", "" },
		{ second, "0::/../../other\n", 0, "", "" },
		{ second, "0::/\n", 0, "", "" },
		{ second, "nonsense\n:\n::\n", 0, "", "" },
		{ "nonsense\n - \n1 2 3 4 5 - cgroup2\n", "0::/a\n", 0, "", "" },
		{ "", "", 0, "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool any = *cases[i].memory || *cases[i].cpu;

		CU_ASSERT(find(cases[i].mounts, cases[i].groups) == any);
		ASSERT_INT(group.place[CGROUP_MEMORY].version, cases[i].version);
		CU_ASSERT_STRING_EQUAL(group.place[CGROUP_MEMORY].own, cases[i].memory);
		CU_ASSERT_STRING_EQUAL(group.place[CGROUP_CPU].own, cases[i].cpu);
	}
}

static void a_path_that_is_too_long_is_none(void)
{
	char groups[900] = "0::/";

	memset(groups + 4, 'x', 600);
	CU_ASSERT_FALSE(find("41 31 0:38 / /cg rw - cgroup2 cgroup2 rw\n", groups));
}

/* A process in /pod/app of a tree at top. */
static void enter(int version)
{
	char mounts[256];

	snprintf(mounts, sizeof(mounts),
		 version == 1 ? "1 2 0:3 / %s rw - cgroup cgroup rw,cpu,cpuacct,memory\n"
			      : "1 2 0:3 / %s rw - cgroup2 cgroup2 rw\n",
		 top);
	CU_ASSERT_TRUE_FATAL(
		find(mounts, version == 1 ? "1:cpu,cpuacct,memory:/pod/app\n" : "0::/pod/app\n"));
	put_file("/pod", "x", "");
	put_file("/pod/app", "x", "");
}

static void version_1_is_read(void)
{
	struct cgroup_limits limits;
	struct cgroup_usage usage;

	enter(1);
	put_file("/pod/app", "cpu.cfs_quota_us", "50000\n");
	put_file("/pod/app", "cpu.cfs_period_us", "100000\n");
	put_file("/pod/app", "cpu.shares", "512\n");
	put_file("/pod/app", "cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 777\n");
	put_file("/pod/app", "cpuacct.usage", "123456789\n");
	put_file("/pod/app", "cpuacct.stat", "user 7\nsystem 5\n");
	put_file("/pod/app", "memory.limit_in_bytes", "1000000\n");
	put_file("/pod/app", "memory.soft_limit_in_bytes", "9223372036854771712\n");
	put_file("/pod/app", "memory.usage_in_bytes", "500000\n");
	put_file("/pod/app", "memory.failcnt", "4\n");
	cgroup_read_limits(&group, &limits);
	ASSERT_INT(limits.cpu_quota_us, 50000);
	ASSERT_INT(limits.cpu_period_us, 100000);
	ASSERT_INT(limits.cpu_shares, 512);
	ASSERT_INT(limits.memory_bytes, 1000000);
	ASSERT_INT(limits.memory_soft_bytes, CGROUP_NO_LIMIT);
	ASSERT_INT(limits.swap_bytes, CGROUP_NOT_KNOWN);
	cgroup_read_usage(&group, &usage);
	ASSERT_INT(usage.cpu_ns, 123456789);
	ASSERT_INT(usage.cpu_user_ns, 7 * 1000000000ll / sysconf(_SC_CLK_TCK));
	ASSERT_INT(usage.cpu_system_ns, 5 * 1000000000ll / sysconf(_SC_CLK_TCK));
	ASSERT_INT(usage.periods, 10);
	ASSERT_INT(usage.throttled_periods, 3);
	ASSERT_INT(usage.throttled_ns, 777);
	ASSERT_INT(usage.memory_bytes, 500000);
	ASSERT_INT(usage.memory_refused, 4);
	ASSERT_INT(usage.swap_bytes, CGROUP_NOT_KNOWN);
}

static void version_2_is_read(void)
{
	struct cgroup_limits limits;
	struct cgroup_usage usage;

	enter(2);
	put_file("/pod/app", "cpu.max", "20000 100000\n");
	put_file("/pod/app", "cpu.weight", "100\n");
	put_file("/pod/app", "cpu.stat",
		 "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 10\nnr_throttled 3\n"
		 "throttled_usec 777\n");
	put_file("/pod/app", "memory.max", "1000000\n");
	put_file("/pod/app", "memory.low", "0\n");
	put_file("/pod/app", "memory.swap.max", "max\n");
	put_file("/pod/app", "memory.current", "500000\n");
	put_file("/pod/app", "memory.swap.current", "1000\n");
	put_file("/pod/app", "memory.events", "low 0\nhigh 0\nmax 4\noom 0\n");
	cgroup_read_limits(&group, &limits);
	ASSERT_INT(limits.cpu_quota_us, 20000);
	ASSERT_INT(limits.cpu_period_us, 100000);
	ASSERT_INT(limits.cpu_shares, 1024);
	ASSERT_INT(limits.memory_bytes, 1000000);
	ASSERT_INT(limits.memory_soft_bytes, 0);
	ASSERT_INT(limits.swap_bytes, CGROUP_NO_LIMIT);
	put_file("/pod/app", "memory.swap.max", "5\n");
	put_file("/pod/app", "cpu.weight", "10000\n");
	cgroup_read_limits(&group, &limits);
	ASSERT_INT(limits.swap_bytes, 1000005);
	ASSERT_INT(limits.cpu_shares, 262144);
	cgroup_read_usage(&group, &usage);
	ASSERT_INT(usage.cpu_ns, 30000);
	ASSERT_INT(usage.cpu_user_ns, 20000);
	ASSERT_INT(usage.cpu_system_ns, 10000);
	ASSERT_INT(usage.throttled_ns, 777000);
	ASSERT_INT(usage.memory_bytes, 500000);
	ASSERT_INT(usage.swap_bytes, 501000);
	ASSERT_INT(usage.memory_refused, 4);
}

/* That of the pod counts, and what is used of it is the pod's. */
static void the_nearest_limit_counts(void)
{
	struct cgroup_limits limits;
	struct cgroup_usage usage;

	enter(2);
	put_file("/pod/app", "cpu.max", "max 100000\n");
	put_file("/pod/app", "memory.max", "max\n");
	put_file("/pod/app", "memory.current", "3\n");
	put_file("/pod/app", "cpu.stat", "usage_usec 1\nnr_periods 0\n");
	put_file("/pod", "cpu.max", "30000 100000\n");
	put_file("/pod", "memory.max", "2000\n");
	put_file("/pod", "memory.current", "100\n");
	put_file("/pod", "cpu.stat", "usage_usec 9\nnr_periods 5\n");
	cgroup_read_limits(&group, &limits);
	cgroup_read_usage(&group, &usage);
	ASSERT_INT(limits.cpu_quota_us, 30000);
	ASSERT_INT(limits.memory_bytes, 2000);
	ASSERT_INT(usage.memory_bytes, 100);
	ASSERT_INT(usage.periods, 5);
	/* CPU time is the process's own group's. */
	ASSERT_INT(usage.cpu_ns, 1000);
	put_file("/pod", "cpu.max", "max 100000\n");
	put_file("/pod", "memory.max", "max\n");
	cgroup_read_limits(&group, &limits);
	cgroup_read_usage(&group, &usage);
	ASSERT_INT(limits.cpu_quota_us, CGROUP_NO_LIMIT);
	ASSERT_INT(limits.memory_bytes, CGROUP_NO_LIMIT);
	ASSERT_INT(usage.memory_bytes, 3);
	ASSERT_INT(usage.periods, 0);
}

static void what_is_not_there_is_not_known(void)
{
	struct cgroup_limits limits;
	struct cgroup_usage usage;

	enter(2);
	put_file("/pod/app", "cpu.stat", "usage_usec many\nuser_usec -5\nnr_periods");
	put_file("/pod/app", "memory.max", "\n");
	put_file("/pod/app", "memory.current", "99999999999999999999\n");
	cgroup_read_limits(&group, &limits);
	cgroup_read_usage(&group, &usage);
	ASSERT_INT(limits.cpu_quota_us, CGROUP_NOT_KNOWN);
	ASSERT_INT(limits.cpu_shares, CGROUP_NOT_KNOWN);
	ASSERT_INT(limits.memory_bytes, CGROUP_NOT_KNOWN);
	ASSERT_INT(usage.cpu_ns, CGROUP_NOT_KNOWN);
	ASSERT_INT(usage.cpu_user_ns, CGROUP_NOT_KNOWN);
	ASSERT_INT(usage.periods, CGROUP_NOT_KNOWN);
	ASSERT_INT(usage.memory_bytes, CGROUP_NOT_KNOWN);
	ASSERT_INT(usage.swap_bytes, CGROUP_NOT_KNOWN);
}

static CU_TestInfo tests[] = {
	{ "groups are found in their trees", groups_are_found_in_their_trees },
	{ "a path that is too long is none", a_path_that_is_too_long_is_none },
	{ "version 1 is read", version_1_is_read },
	{ "version 2 is read", version_2_is_read },
	{ "the nearest limit counts", the_nearest_limit_counts },
	{ "what is not there is not known", what_is_not_there_is_not_known },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_cgroup_suite = {
	.pName = "target_cgroup",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
