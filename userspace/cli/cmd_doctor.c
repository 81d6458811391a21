/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "jvm/jvm.h"
#include "live/live.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/target.h"

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

static void check_image(struct doctor *doctor, const struct target *target,
			const struct mapping *libjvm)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	char text[2 * IMAGE_BUILD_ID_MAX + 1] = "";
	struct image *image;
	size_t len;
	int err;

	err = image_open(target, libjvm, &image);
	if (err) {
		say(doctor, LIVE_NEED_MISSING, "libjvm.so", "%s cannot be read: %s", libjvm->path,
		    strerror(-err));
		return;
	}
	len = image_build_id(image, id);
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	say(doctor, LIVE_NEED_OK, "libjvm.so", "%s%s, build id %s", libjvm->path,
	    libjvm->deleted ? " (deleted)" : "", len ? text : "none");
	if (image_has_symtab(image))
		say(doctor, LIVE_NEED_OK, "libjvm symbols", "complete");
	else
		say(doctor, LIVE_NEED_DEGRADED, "libjvm symbols",
		    "only exported ones, so frames inside libjvm have no names; install the "
		    "debug symbols of this JDK");
	image_close(image);
}

static void check_jvm(struct doctor *doctor, const struct target *target, const struct maps *maps)
{
	struct jvm *jvm;
	int err;

	err = jvm_open(target, maps, &jvm);
	switch (-err) {
	case 0:
		say(doctor, LIVE_NEED_OK, "Java frames", "JDK %s, %s", jvm_version(jvm),
		    jvm_gc_name(jvm));
		jvm_close(jvm);
		break;
	case EAGAIN:
		say(doctor, LIVE_NEED_DEGRADED, "Java frames",
		    "the JVM is still starting; a recording waits for it");
		break;
	case ENOENT:
		say(doctor, LIVE_NEED_MISSING, "Java frames",
		    "libjvm.so has no vmStructs, so it is not HotSpot's");
		break;
	case EPROTO:
		say(doctor, LIVE_NEED_MISSING, "Java frames",
		    "a field of vmStructs is missing, see above; this JDK is not supported");
		break;
	default:
		say(doctor, LIVE_NEED_MISSING, "Java frames", "the JVM cannot be read: %s",
		    strerror(-err));
		break;
	}
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
		say(doctor, LIVE_NEED_OK, "target", "pid %d%s", pid,
		    target->ns_pid != pid ? " (in a container)" : "");
		check_image(doctor, target, libjvm);
		check_jvm(doctor, target, &maps);
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
