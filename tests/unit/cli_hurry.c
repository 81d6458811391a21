/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/hurry.h"
#include "unit/unit.h"

/* Each test in a process of its own: not every nice value can be taken back. */
static void in_child(bool (*test)(void))
{
	int status;
	pid_t pid = fork();

	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0)
		_exit(test() ? 0 : 1);
	ASSERT_INT(waitpid(pid, &status, 0), pid);
	ASSERT_INT(status, 0);
}

static bool usual(void)
{
	const struct sched_param none = { 0 };

	return !sched_setscheduler(0, SCHED_OTHER, &none) && !setpriority(PRIO_PROCESS, 0, 0);
}

static bool begin_and_end(void)
{
	bool hurries = false;

	if (!usual())
		return geteuid() != 0;
	hurry_begin(&hurries);
	if (!hurries)
		return geteuid() != 0 && getpriority(PRIO_PROCESS, 0) == 0;
	if (getpriority(PRIO_PROCESS, 0) != -20)
		return false;
	hurry_end(&hurries);
	return !hurries && getpriority(PRIO_PROCESS, 0) == 0;
}

static void the_nice_value_is_given_back(void)
{
	in_child(begin_and_end);
}

static bool given_nice(void)
{
	bool hurries = true;

	usual();
	if (setpriority(PRIO_PROCESS, 0, 5))
		return false;
	hurry_begin(&hurries);
	hurry_end(&hurries);
	return !hurries && getpriority(PRIO_PROCESS, 0) == 5;
}

static bool given_policy(void)
{
	const struct sched_param none = { 0 };
	bool hurries = true;

	usual();
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		return false;
	hurry_begin(&hurries);
	hurry_end(&hurries);
	return !hurries && sched_getscheduler(0) == SCHED_IDLE && getpriority(PRIO_PROCESS, 0) == 0;
}

static void what_somebody_gave_us_stays(void)
{
	in_child(given_nice);
	in_child(given_policy);
}

static bool without_right(void)
{
	bool hurries = true;

	usual();
	if (geteuid() == 0 && setuid(65534))
		return false;
	hurry_begin(&hurries);
	hurry_end(&hurries);
	return !hurries && getpriority(PRIO_PROCESS, 0) == 0;
}

static void without_the_right_nothing_happens(void)
{
	in_child(without_right);
}

static CU_TestInfo tests[] = {
	{ "the nice value is given back", the_nice_value_is_given_back },
	{ "what somebody gave us stays", what_somebody_gave_us_stays },
	{ "without the right nothing happens", without_the_right_nothing_happens },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo cli_hurry_suite = {
	.pName = "cli hurry",
	.pTests = tests,
};
