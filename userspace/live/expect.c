/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "live/live_impl.h"

/* The part of live.h that looks at a program before it runs. */

/* As execvp() finds it. Writes a path with links resolved. */
static bool find_program(const char *name, char real[PATH_MAX])
{
	const char *path = getenv("PATH");
	char at[PATH_MAX];

	if (strchr(name, '/'))
		return realpath(name, real) != NULL;
	while (path && *path) {
		size_t len = strcspn(path, ":");

		snprintf(at, sizeof(at), "%.*s/%s", (int)len, path, name);
		if (len && access(at, X_OK) == 0)
			return realpath(at, real) != NULL;
		path += len + (path[len] == ':');
	}
	return false;
}

/* libjvm.so beside a java launcher, by the layouts of JDK 9 and later and of 8. */
static bool find_libjvm(char launcher[PATH_MAX], char out[PATH_MAX])
{
	static const char *const below[] = { "lib/server/libjvm.so", "lib/amd64/server/libjvm.so",
					     "lib/aarch64/server/libjvm.so" };
	char path[PATH_MAX * 2];

	/* Two names off: bin and java. */
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(launcher, '/');

		if (!slash)
			return false;
		*slash = '\0';
	}
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", launcher, below[i]);
		if (realpath(path, out))
			return true;
	}
	return false;
}

void live_expect(struct live *live, uint32_t index, const char *program)
{
	struct process *p = &live->processes[index];
	struct mapping mapping = { .executable = true };
	char launcher[PATH_MAX], path[PATH_MAX];
	struct stat st;

	if (!find_program(program, launcher) || !find_libjvm(launcher, path) || stat(path, &st))
		return;
	mapping.path = path;
	mapping.inode = st.st_ino;
	mapping.device = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	/* The user this adds is never taken away: the image stays until live_close. */
	images_get(&live->images, &live->tables, p->target, &mapping);
}
