/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/terminal.h"

#define SECOND_NS	 1000000000ull
#define REWRITE_EVERY_NS (SECOND_NS / 2)
#define LOG_EVERY_NS	 (10 * SECOND_NS)
#define CLEAR_LINE	 "\r\033[K"

/* A log line must not begin behind the status line. Harmless when none is shown. */
static void clear_line(void)
{
	fputs(CLEAR_LINE, stderr);
}

void status_start(struct status *status, uint64_t start_ns, uint64_t own_cpu_ns,
		  uint64_t duration_ns, bool silent)
{
	*status = (struct status){
		.rewrite = terminal_can_rewrite(stderr),
		.silent = silent,
		.start_ns = start_ns,
		.duration_ns = duration_ns,
		.last_ns = start_ns,
		.last_own_cpu_ns = own_cpu_ns,
	};
	status->next_ns = start_ns + (status->rewrite ? REWRITE_EVERY_NS : LOG_EVERY_NS);
	if (status->rewrite && !silent)
		log_set_before(clear_line);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void add_time(const struct status *status, uint64_t now_ns, char *to, size_t size)
{
	uint64_t elapsed_ns = now_ns - status->start_ns;
	uint64_t left_ns = status->duration_ns > elapsed_ns ? status->duration_ns - elapsed_ns : 0;

	if (status->duration_ns)
		snprintf(to, size, "%llu s left", (left_ns + SECOND_NS / 2) / SECOND_NS);
	else
		snprintf(to, size, "%llu s", elapsed_ns / SECOND_NS);
}

/* ", native +1.2 MiB (exact)" */
static int add_native(const struct live_status *live, char *to, size_t size)
{
	char text[TEXT_MAX];

	if (!live->native_known)
		return snprintf(to, size, ", native not known (%s)", live->native_state);
	return snprintf(to, size, ", native %c%s (%s)", live->native_bytes < 0 ? '-' : '+',
			text_bytes((uint64_t)llabs(live->native_bytes), text), live->native_state);
}

/* ", 12 GCs (34.5 ms)" */
static int add_gc(const struct live_status *live, char *to, size_t size)
{
	char count[TEXT_MAX];
	char time[TEXT_MAX];

	return snprintf(to, size, ", %s GC%s (%s)", text_count(live->collections, count),
			live->collections == 1 ? "" : "s", text_ns(live->paused_ns, time));
}

void status_text(const struct status *status, const struct live_status *live, uint64_t now_ns,
		 char *to, size_t size)
{
	uint64_t all = live->complete + live->truncated + live->broken;
	double own = percent(live->own_cpu_ns - status->last_own_cpu_ns, now_ns - status->last_ns);
	char samples[TEXT_MAX];
	char lost[TEXT_MAX];
	char time[TEXT_MAX];
	int len;

	add_time(status, now_ns, time, sizeof(time));
	text_count(live->samples, samples);
	text_count(live->lost, lost);
	len = snprintf(to, size, "%s, %s samples, %.1f %% complete, %s lost, own CPU %.1f %%", time,
		       samples, all ? percent(live->complete, all) : 100.0, lost, own);
	if (len > 0 && (size_t)len < size && live->gc_known)
		len += add_gc(live, to + len, size - (size_t)len);
	if (len > 0 && (size_t)len < size && live->native_state)
		len += add_native(live, to + len, size - (size_t)len);
	if (len > 0 && (size_t)len < size && live->java < live->targets)
		snprintf(to + len, size - (size_t)len, ", Java frames in %u of %u", live->java,
			 live->targets);
}

void status_tick(struct status *status, struct live *live, uint64_t now_ns)
{
	struct live_status now;
	char line[256];

	if (status->silent || now_ns < status->next_ns)
		return;
	live_status(live, &now);
	status_text(status, &now, now_ns, line, sizeof(line));
	if (status->rewrite) {
		/* A line that wraps could not be written over. */
		fprintf(stderr, CLEAR_LINE "%.*s", terminal_width(stderr) - 1, line);
		fflush(stderr);
		status->shown = true;
	} else {
		log_info("%s", line);
	}
	status->next_ns = now_ns + (status->rewrite ? REWRITE_EVERY_NS : LOG_EVERY_NS);
	status->last_ns = now_ns;
	status->last_own_cpu_ns = now.own_cpu_ns;
}

void status_stop(struct status *status)
{
	if (status->shown)
		clear_line();
	status->shown = false;
	log_set_before(NULL);
}
