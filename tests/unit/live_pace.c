/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/pace.h"
#include "unit/unit.h"

#define MS 1000000ull

static struct pace pace;
static struct paced paced;
static int fd;

static void setup(void)
{
	ASSERT_INT(pace_open(&pace), 0);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_INT(pace_add(&pace, &paced, fd), 0);
}

static void teardown(void)
{
	pace_close(&pace);
	close(fd);
}

/* Something comes to the descriptor. */
static void come(void)
{
	eventfd_write(fd, 1);
}

static bool wakes(int timeout_ms)
{
	struct pollfd wait = { .fd = pace.epoll, .events = POLLIN };

	return poll(&wait, 1, timeout_ms) == 1;
}

static void an_armed_descriptor_wakes_once(void)
{
	CU_ASSERT_FALSE(wakes(0));
	CU_ASSERT_FALSE(pace_is_due(&paced, clock_monotonic_ns()));
	come();
	CU_ASSERT_TRUE(wakes(0));
	pace_take(&pace, clock_monotonic_ns());
	CU_ASSERT_TRUE(pace_is_due(&paced, clock_monotonic_ns()));
	come();
	CU_ASSERT_FALSE(wakes(0));
}

static void a_descriptor_at_rest_is_due_later(void)
{
	uint64_t start_ns = clock_monotonic_ns();

	come();
	pace_take(&pace, start_ns);
	pace_rest(&paced, start_ns + 5 * MS);
	pace_wake_at(&pace, start_ns + 5 * MS);
	come();
	CU_ASSERT_FALSE(pace_is_due(&paced, start_ns + 4 * MS));
	CU_ASSERT_TRUE(wakes(1000));
	CU_ASSERT(clock_monotonic_ns() >= start_ns + 5 * MS);
	pace_take(&pace, clock_monotonic_ns());
	CU_ASSERT_TRUE(pace_is_due(&paced, clock_monotonic_ns()));
	CU_ASSERT_FALSE(wakes(0));
}

/* What came meanwhile is not forgotten. */
static void a_descriptor_that_is_armed_again_wakes_at_once(void)
{
	come();
	pace_take(&pace, clock_monotonic_ns());
	pace_rest(&paced, 1);
	pace_arm(&pace, &paced);
	CU_ASSERT_FALSE(pace_is_due(&paced, clock_monotonic_ns()));
	CU_ASSERT_TRUE(wakes(0));
	pace_take(&pace, clock_monotonic_ns());
	CU_ASSERT_TRUE(pace_is_due(&paced, clock_monotonic_ns()));
}

static void the_timer_does_not_hide_a_descriptor(void)
{
	pace_wake_at(&pace, 1); /* is over */
	come();
	CU_ASSERT_TRUE(wakes(1000));
	pace_take(&pace, clock_monotonic_ns());
	CU_ASSERT_FALSE(pace_is_due(&paced, clock_monotonic_ns()));
	CU_ASSERT_TRUE(wakes(0));
	pace_take(&pace, clock_monotonic_ns());
	CU_ASSERT_TRUE(pace_is_due(&paced, clock_monotonic_ns()));
	CU_ASSERT_FALSE(wakes(0));
}

static void the_timer_can_be_moved_and_stopped(void)
{
	uint64_t start_ns = clock_monotonic_ns();

	pace_wake_at(&pace, start_ns + 3600 * 1000 * MS);
	CU_ASSERT_FALSE(wakes(1));
	pace_wake_at(&pace, start_ns + MS);
	CU_ASSERT_TRUE(wakes(1000));
	pace_wake_at(&pace, start_ns + 3600 * 1000 * MS);
	CU_ASSERT_FALSE(wakes(0));
	pace_wake_at(&pace, clock_monotonic_ns() + MS);
	pace_wake_at(&pace, 0);
	CU_ASSERT_FALSE(wakes(5));
}

static void a_descriptor_for_once_wakes_once(void)
{
	int once = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_INT(pace_add_once(&pace, once), 0);
	CU_ASSERT_TRUE(wakes(0));
	pace_take(&pace, clock_monotonic_ns());
	CU_ASSERT_FALSE(wakes(0));
	CU_ASSERT_FALSE(pace_is_due(&paced, clock_monotonic_ns()));
	pace_remove(&pace, once);
	close(once);
}

static void what_cannot_be_watched_is_refused(void)
{
	struct paced other = { .fd = -1 };

	CU_ASSERT(pace_add(&pace, &other, -1) < 0);
	CU_ASSERT_FALSE(other.armed);
	CU_ASSERT(pace_add(&pace, &other, fd) < 0); /* is watched already */
	CU_ASSERT(pace_add_once(&pace, -1) < 0);
}

static CU_TestInfo tests[] = {
	{ "an armed descriptor wakes once", an_armed_descriptor_wakes_once },
	{ "a descriptor at rest is due later", a_descriptor_at_rest_is_due_later },
	{ "a descriptor that is armed again wakes at once",
	  a_descriptor_that_is_armed_again_wakes_at_once },
	{ "the timer does not hide a descriptor", the_timer_does_not_hide_a_descriptor },
	{ "the timer can be moved and stopped", the_timer_can_be_moved_and_stopped },
	{ "a descriptor for once wakes once", a_descriptor_for_once_wakes_once },
	{ "what cannot be watched is refused", what_cannot_be_watched_is_refused },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_pace_suite = {
	.pName = "live pace",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
