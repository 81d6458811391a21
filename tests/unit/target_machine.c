/* SPDX-License-Identifier: Apache-2.0 */
#include "target/machine.h"

#include <errno.h>
#include <unistd.h>

#include "target/target.h"
#include "unit/unit.h"

static const char stat_text[] = "cpu  100 20 30 4000 50 6 7 8 99 98\n"
				"cpu0 1 2 3 4 5 6 7 8 9 10\n"
				"intr 123 4 5\n"
				"ctxt 987654\n"
				"btime 1700000000\n";

static void cpu_times_are_added_up(void)
{
	uint64_t tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
	struct machine_cpu cpu;

	ASSERT_INT(machine_cpu_parse(stat_text, &cpu), 0);
	ASSERT_INT(cpu.user_ns, 120 * tick_ns);
	ASSERT_INT(cpu.system_ns, 43 * tick_ns);
	ASSERT_INT(cpu.busy_ns, 171 * tick_ns);
	ASSERT_INT(cpu.all_ns, 4221 * tick_ns);
	ASSERT_INT(cpu.context_switches, 987654);
}

static void a_file_that_is_none_changes_nothing(void)
{
	static const char *const texts[] = { "", "cpu  1 2 3\nctxt 5\n", "cpu  1 2 3 4 5 6 7 8\n",
					     "cpu0 1 2 3 4 5 6 7 8\nctxt 5\n",
					     "cpu  1 2 3 4 5 6 7 x\nctxt 5\n" };
	struct machine_memory memory = { .total = 7 };
	struct machine_cpu cpu = { .all_ns = 7 };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ASSERT_INT(machine_cpu_parse(texts[i], &cpu), -EBADMSG);
		ASSERT_INT(machine_memory_parse(texts[i], &memory), -EBADMSG);
	}
	ASSERT_INT(cpu.all_ns, 7);
	ASSERT_INT(memory.total, 7);
}

static void memory_in_use_is_what_is_not_available(void)
{
	struct machine_memory memory;

	ASSERT_INT(machine_memory_parse("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable: 300 kB\n"
					"SwapTotal: 50 kB\nSwapFree:  20 kB\n",
					&memory),
		   0);
	ASSERT_INT(memory.total, 1000 * 1024);
	ASSERT_INT(memory.used, 700 * 1024);
	ASSERT_INT(memory.swap_total, 50 * 1024);
	ASSERT_INT(memory.swap_used, 30 * 1024);
}

static void this_machine_can_be_read(void)
{
	struct machine_memory memory;
	struct machine_cpu cpu, later;

	ASSERT_INT(machine_cpu_read(&cpu), 0);
	ASSERT_INT(machine_memory_read(&memory), 0);
	ASSERT_INT(machine_cpu_read(&later), 0);
	CU_ASSERT(cpu.busy_ns > 0 && cpu.busy_ns <= cpu.all_ns && cpu.all_ns <= later.all_ns);
	CU_ASSERT(memory.used > 0 && memory.used < memory.total);
}

/* Of the process, which is more than its first thread. */
static void a_process_has_used_something(void)
{
	struct target_usage before, usage;
	struct target *t;

	ASSERT_INT(target_open(getpid(), &t), 0);
	ASSERT_INT(target_usage(t, &before), 0);
	for (int i = 0; i < 3000 && !target_usage(t, &usage); i++)
		if (usage.user_ns + usage.system_ns > before.user_ns + before.system_ns)
			break;
	CU_ASSERT(usage.user_ns + usage.system_ns > before.user_ns + before.system_ns);
	CU_ASSERT(usage.rss_bytes > 1u << 20 && usage.rss_bytes <= usage.rss_peak_bytes);
	CU_ASSERT(usage.threads >= 1);
	target_close(t);
}

static CU_TestInfo tests[] = {
	{ "CPU times are added up", cpu_times_are_added_up },
	{ "a file that is none changes nothing", a_file_that_is_none_changes_nothing },
	{ "memory in use is what is not available", memory_in_use_is_what_is_not_available },
	{ "this machine can be read", this_machine_can_be_read },
	{ "a process has used something", a_process_has_used_something },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_machine_suite = {
	.pName = "target_machine",
	.pTests = tests,
};
