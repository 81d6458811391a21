/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hurry.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#define NICE_USUAL 0
#define NICE_BEST  (-20)

void hurry_begin(bool *hurries)
{
	errno = 0;
	*hurries = sched_getscheduler(0) == SCHED_OTHER &&
		   getpriority(PRIO_PROCESS, 0) == NICE_USUAL && !errno &&
		   !setpriority(PRIO_PROCESS, 0, NICE_BEST);
}

void hurry_end(bool *hurries)
{
	if (*hurries)
		setpriority(PRIO_PROCESS, 0, NICE_USUAL);
	*hurries = false;
}
