/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "cli/options.h"

/* The part of options.h that is about the events of -e. */

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The names; what is not recorded yet is not here and so refused. */
static const struct {
	const char *name;
	unsigned int bit;
} events[] = {
	{ "cpu", LIVE_EVENT_CPU },
	{ "offcpu", LIVE_EVENT_OFFCPU },
	{ "native", LIVE_EVENT_NATIVE },
	{ "native=libc", LIVE_EVENT_NATIVE | LIVE_EVENT_LIBC },
	{ "class", LIVE_EVENT_CLASS },
	{ "gc", LIVE_EVENT_GC },
	{ "safepoint", LIVE_EVENT_SAFEPOINT },
	{ "lock", LIVE_EVENT_LOCK },
	{ "thread", LIVE_EVENT_THREAD },
	{ "jit", LIVE_EVENT_JIT },
	{ "exception", LIVE_EVENT_EXCEPTION },
	{ "alloc", LIVE_EVENT_ALLOC },
	{ "io", LIVE_EVENT_IO },
	{ "counter", LIVE_EVENT_COUNTER },
	{ "all", LIVE_EVENT_CPU | LIVE_EVENT_OFFCPU | LIVE_EVENT_NATIVE | LIVE_EVENT_CLASS |
			 LIVE_EVENT_VM | LIVE_EVENT_COUNTER },
};

const char *options_events_text(unsigned int events_on, char *to, size_t size)
{
	struct strbuf text = { .max = size - 1 };

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		bool libc = events[i].bit == LIVE_EVENT_NATIVE && events_on & LIVE_EVENT_LIBC;

		if (strcmp(events[i].name, "all") != 0 && !libc &&
		    (events[i].bit & events_on) == events[i].bit)
			strbuf_printf(&text, "%s%s", text.len ? "," : "", events[i].name);
	}
	snprintf(to, size, "%s", strbuf_text(&text));
	strbuf_free(&text);
	return to;
}

static unsigned int event_bit(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (strlen(events[i].name) == len && !memcmp(events[i].name, name, len))
			return events[i].bit;
	}
	return 0;
}

static void say_no_event(const char *arg, const char *name, size_t len)
{
	struct strbuf names = { .max = 256 };

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		strbuf_printf(&names, " %s", events[i].name);
	log_error("-e %s: no event '%.*s' (there is%s)", arg, (int)len, name, strbuf_text(&names));
	strbuf_free(&names);
}

int options_read_events(const char *arg, unsigned int *chosen)
{
	unsigned int plus = 0;
	unsigned int minus = 0;
	const char *at = arg;
	size_t len;

	for (;; at += len + 1) {
		bool off = *at == '-';
		unsigned int bit;

		at += off;
		len = strcspn(at, ",");
		bit = event_bit(at, len);
		if (!bit) {
			say_no_event(arg, at, len);
			return -EINVAL;
		}
		/* There is no libc's memory without the VM's. */
		if (off && bit & LIVE_EVENT_NATIVE)
			bit |= LIVE_EVENT_LIBC;
		*(off ? &minus : &plus) |= bit;
		if (!at[len])
			break;
	}
	*chosen = (plus ? plus : *chosen) & ~minus;
	if (*chosen)
		return 0;
	log_error("-e %s: nothing is left to record", arg);
	return -EINVAL;
}
