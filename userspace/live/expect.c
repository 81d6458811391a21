/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "live/live_impl.h"
#include "live/native.h"
#include "target/image.h"
#include "target/maps.h"

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

/* The folder of a JDK's libraries: lib, before JDK 9 one for each architecture below it. */
static bool find_libraries(char launcher[PATH_MAX], char out[PATH_MAX])
{
	static const char *const below[] = { "lib", "lib/amd64", "lib/aarch64" };
	char libjvm[PATH_MAX * 2];

	/* Two names off: bin and java. */
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(launcher, '/');

		if (!slash)
			return false;
		*slash = '\0';
	}
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		if ((size_t)snprintf(out, PATH_MAX, "%s/%s", launcher, below[i]) >= PATH_MAX)
			return false;
		snprintf(libjvm, sizeof(libjvm), "%s/server/libjvm.so", out);
		if (access(libjvm, R_OK) == 0)
			return true;
	}
	return false;
}

/*
 * Unwind rows and symbols are there from the first instruction. The user this adds is never taken
 * away: the image stays until live_close.
 */
static void read_ahead(struct live *live, const struct process *p, const struct mapping *mapping)
{
	struct loaded_image *loaded = images_get(&live->images, &live->tables, p->target, mapping);
	uint64_t offset;

	if (!loaded || !loaded->image)
		return;
	image_function(loaded->image, 0, &offset);
	if (strcmp(image_name(loaded->image), "libjvm.so") != 0)
		return;
	if (live->classes)
		classes_attach(live->classes, p, loaded->image, mapping);
	if (live->native)
		native_attach_early(live->native, p, loaded->image, mapping);
}

static void read_file_ahead(struct live *live, const struct process *p, const char *name)
{
	struct mapping mapping = { .executable = true };
	char path[PATH_MAX];
	struct stat st;

	if (!realpath(name, path) || stat(path, &st))
		return;
	mapping.path = path;
	mapping.inode = st.st_ino;
	mapping.device = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	read_ahead(live, p, &mapping);
}

/* The loader and the C library are those that we run with ourselves. */
static void read_own_ahead(struct live *live, const struct process *p)
{
	struct maps maps;

	if (maps_read(getpid(), &maps))
		return;
	for (size_t i = 0; i < maps.count; i++) {
		const struct mapping *mapping = &maps.items[i];
		const char *name = strrchr(mapping->path, '/');

		if (mapping->executable && name &&
		    (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/ld-linux", 9) == 0))
			read_ahead(live, p, mapping);
	}
	maps_free(&maps);
}

void live_expect(struct live *live, uint32_t index, const char *program)
{
	static const char *const names[] = { "server/libjvm.so", "libjli.so",	 "jli/libjli.so",
					     "libjava.so",	 "libjimage.so", "libnio.so",
					     "libnet.so",	 "libzip.so",	 "libverify.so" };
	const struct process *p = &live->processes[index];
	char launcher[PATH_MAX], folder[PATH_MAX], path[PATH_MAX * 2];

	if (!find_program(program, launcher) || !find_libraries(launcher, folder))
		return;
	read_own_ahead(live, p);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		read_file_ahead(live, p, path);
	}
}
