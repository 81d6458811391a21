/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "jvm/jvm.h"
#include "live/live.h"
#include "live/vm.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/target.h"
#include "target/usdt.h"

#define NEEDS_MAX 64

struct doctor {
	struct colors colors;
	bool missing;
};

static const char *const state_names[] = {
	[LIVE_NEED_OK] = "ok",
	[LIVE_NEED_DEGRADED] = "degraded",
	[LIVE_NEED_MISSING] = "missing",
};

static void say(struct doctor *doctor, enum live_need_state state, const char *name,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* One need, one line: state, name, what is so and what to do. */
static void say(struct doctor *doctor, enum live_need_state state, const char *name,
		const char *fmt, ...)
{
	const char *const colors[] = { doctor->colors.good, doctor->colors.poor,
				       doctor->colors.bad };
	va_list args;

	printf("%s%-8s%s  %-22s  ", colors[state], state_names[state], doctor->colors.off, name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	if (state == LIVE_NEED_MISSING)
		doctor->missing = true;
}

static void check_host(struct doctor *doctor)
{
	struct live_need needs[NEEDS_MAX];
	size_t count = live_needs(needs, NEEDS_MAX);

	for (size_t i = 0; i < count; i++)
		say(doctor, needs[i].state, needs[i].name, "%s", needs[i].text);
}

/* ---- one target */

static void check_build_id(struct doctor *doctor, const struct image *image)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	char text[2 * IMAGE_BUILD_ID_MAX + 1] = "";
	size_t len = image_build_id(image, id);

	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	if (len)
		say(doctor, LIVE_NEED_OK, "build id", "%s", text);
	else
		say(doctor, LIVE_NEED_DEGRADED, "build id",
		    "none: debug symbols are looked for by name only; use a JDK linked with "
		    "--build-id");
}

/* Returns whether the functions that events of -e are probed at can be found. */
static bool check_symbols(struct doctor *doctor, struct image *image)
{
	bool complete = image_has_symtab(image);

	if (complete)
		say(doctor, LIVE_NEED_OK, "symbols", "complete");
	else
		say(doctor, LIVE_NEED_DEGRADED, "symbols",
		    "only exported ones, so frames inside libjvm have no names, and native and "
		    "class cannot be recorded; install the debug symbols of this JDK");
	return complete;
}

/* The probes of libjvm.so that events need: one of each event is looked for. */
static const struct {
	const char *name;
	const char *event;
} probes[] = {
	{ "gc__begin", "gc" },
	{ "vmops__begin", "safepoint" },
	{ "thread__start", "thread" },
	{ "method__compile__begin", "jit" },
};
#define PROBES (sizeof(probes) / sizeof(probes[0]))

static int note_probe(const struct usdt_place *place, void *ctx)
{
	bool *present = ctx;

	for (size_t i = 0; i < PROBES; i++)
		if (!strcmp(place->provider, "hotspot") && !strcmp(place->name, probes[i].name))
			present[i] = true;
	return 0;
}

static void check_probes(struct doctor *doctor, const struct image *image)
{
	bool present[PROBES] = { false };
	struct strbuf lists[2] = { 0 }; /* of events without, and with probes */
	int places = usdt_each(image, note_probe, present);

	for (size_t i = 0; i < PROBES; i++) {
		struct strbuf *list = &lists[present[i]];

		strbuf_puts(list, list->len ? ", " : "");
		strbuf_puts(list, probes[i].event);
	}
	if (places < 0)
		say(doctor, LIVE_NEED_DEGRADED, "USDT probes",
		    "%s, so there are none of %s (no event of -e needs them); use a JDK built with "
		    "--enable-dtrace",
		    places == -ENOENT ? "none" : "not readable", strbuf_text(&lists[0]));
	else if (lists[0].len)
		say(doctor, LIVE_NEED_DEGRADED, "USDT probes",
		    "%d places, but none for %s; use a JDK built with --enable-dtrace", places,
		    strbuf_text(&lists[0]));
	else
		say(doctor, LIVE_NEED_OK, "USDT probes", "%d places: %s", places,
		    strbuf_text(&lists[1]));
	strbuf_free(&lists[0]);
	strbuf_free(&lists[1]);
}

/* What each event of the VM's own has of its places, one line each. */
static void check_places(struct doctor *doctor, struct image *image)
{
	struct vm_places all[JVS_VM_GROUP_NR];

	vm_places(image, all);
	for (size_t i = 0; i < JVS_VM_GROUP_NR; i++) {
		const struct vm_places *places = &all[i];
		struct strbuf text = { 0 };
		char name[32];

		snprintf(name, sizeof(name), "places of %s", places->event);
		if (!places->missing) {
			say(doctor, LIVE_NEED_OK, name, "%zu of %zu: %s", places->count,
			    places->count, places->what);
			continue;
		}
		for (size_t k = 0; k < places->missing; k++)
			strbuf_printf(&text, "%s%s (%s)", k ? ", " : "", places->lost[k],
				      places->names[k]);
		say(doctor, LIVE_NEED_DEGRADED, name,
		    "%zu of %zu, so not known: %s; install the debug symbols of this JDK, or use "
		    "one that has them",
		    places->count - places->missing, places->count, strbuf_text(&text));
		strbuf_free(&text);
	}
}

/* Returns whether libjvm.so can be probed. */
static bool check_image(struct doctor *doctor, const struct target *target,
			const struct mapping *libjvm)
{
	struct image *image;
	bool has_symbols;
	int err;

	err = image_open(target, libjvm, &image);
	if (err) {
		say(doctor, LIVE_NEED_MISSING, "libjvm.so", "%s cannot be read: %s: run as root",
		    libjvm->path, strerror(-err));
		return false;
	}
	say(doctor, LIVE_NEED_OK, "libjvm.so", "%s%s", libjvm->path,
	    libjvm->deleted ? " (deleted)" : "");
	check_build_id(doctor, image);
	has_symbols = check_symbols(doctor, image);
	check_probes(doctor, image);
	check_places(doctor, image);
	image_close(image);
	return has_symbols;
}

/* What the JVM shows of itself. Returns whether Java frames are or will be named. */
static bool check_jvm(struct doctor *doctor, const struct target *target, const struct maps *maps)
{
	struct jvm *jvm;
	int err;

	err = jvm_open(target, maps, &jvm);
	switch (-err) {
	case 0:
		say(doctor, LIVE_NEED_OK, "vmStructs", "JDK %s, %s", jvm_version(jvm),
		    jvm_gc_name(jvm));
		jvm_close(jvm);
		return true;
	case EAGAIN:
		say(doctor, LIVE_NEED_DEGRADED, "vmStructs",
		    "the JVM is still starting; a recording waits for it");
		return true;
	case ENOENT:
		say(doctor, LIVE_NEED_MISSING, "vmStructs",
		    "libjvm.so has none, so it is not HotSpot's; use a HotSpot JVM");
		return false;
	case EPROTO:
		say(doctor, LIVE_NEED_MISSING, "vmStructs",
		    "a field is missing, see the warning; use a supported JDK, 8 or later");
		return false;
	default:
		say(doctor, LIVE_NEED_MISSING, "vmStructs", "cannot be read: %s: run as root",
		    strerror(-err));
		return false;
	}
}

static void check_inside(struct doctor *doctor, const struct target *target,
			 const struct maps *maps, const struct mapping *libjvm)
{
	const char *events = "cpu and counter";

	if (target->ns_pid != target->pid)
		say(doctor, LIVE_NEED_OK, "target", "pid %d, which is %d in its container",
		    target->pid, target->ns_pid);
	else
		say(doctor, LIVE_NEED_OK, "target", "pid %d", target->pid);
	if (check_image(doctor, target, libjvm))
		events = "cpu, native, class and counter";
	if (check_jvm(doctor, target, maps))
		say(doctor, LIVE_NEED_OK, "can be recorded",
		    "%s, with Java, native and kernel frames", events);
	else
		say(doctor, LIVE_NEED_DEGRADED, "can be recorded",
		    "cpu, with native and kernel frames only, see vmStructs");
}

/* Status of its own, because a process that is no JVM is no lack of this machine. */
static enum exit_status check_target(struct doctor *doctor, pid_t pid)
{
	enum exit_status status = EXIT_DONE;
	const struct mapping *libjvm;
	struct target *target;
	struct maps maps = { 0 };
	int err;

	err = target_open(pid, &target);
	if (err)
		return exit_of_error(err);
	err = maps_read(pid, &maps);
	libjvm = err ? NULL : maps_find_file(&maps, "libjvm.so");
	if (err) {
		log_error("pid %d: memory map: %s", pid, strerror(-err));
		status = exit_of_error(err);
	} else if (!libjvm) {
		log_error("pid %d: not a HotSpot JVM (no libjvm.so mapped)", pid);
		status = EXIT_NO_TARGET;
	} else {
		check_inside(doctor, target, &maps, libjvm);
	}
	maps_free(&maps);
	target_close(target);
	return status;
}

int cmd_doctor(const struct options *options)
{
	struct doctor doctor = { .colors = terminal_colors(options->color, stdout) };
	enum exit_status status = EXIT_DONE;

	check_host(&doctor);
	for (size_t i = 0; i < options->pid_count && status == EXIT_DONE; i++)
		status = check_target(&doctor, options->pids[i]);
	if (status == EXIT_DONE && doctor.missing)
		status = EXIT_RIGHTS;
	return (int)status;
}
