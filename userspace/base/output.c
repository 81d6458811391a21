/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned int temporaries; /* made so far: several outputs lie in one folder */

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

/*
 * A symbolic link is written through, so that /dev/stdout works and a link stays a link. A folder
 * is left to fopen(), which has the right errno for it.
 */
static bool written_in_place(const char *path)
{
	struct stat found;

	return !lstat(path, &found) && !S_ISREG(found.st_mode);
}

static int open_temporary(const char *path, struct output *out)
{
	int fd;

	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - path) : 0;

	/* Not made from the file's own name, which may be as long as a name can be. */
	if (asprintf(&out->temporary, "%.*s.jvmscope-%d-%u.tmp", folder, path, getpid(),
		     ++temporaries) < 0) {
		out->temporary = NULL;
		return -ENOMEM;
	}
	/* A file left by an earlier process of the same pid is ours to replace. */
	if (unlink(out->temporary) && errno != ENOENT)
		return -errno;
	fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	out->file = fdopen(fd, "w");
	if (!out->file) {
		int err = -errno;

		close(fd);
		unlink(out->temporary);
		return err;
	}
	return 0;
}

static int open_in_place(const char *path, struct output *out)
{
	if (is_stdout(path)) {
		out->file = stdout;
		return 0;
	}
	out->file = fopen(path, "we");
	return out->file ? 0 : -errno;
}

int output_open(const char *path, struct output *out)
{
	struct output made = { 0 };
	int err;

	made.path = strdup(path);
	if (!made.path)
		return -ENOMEM;
	if (is_stdout(path) || written_in_place(path))
		err = open_in_place(path, &made);
	else
		err = open_temporary(path, &made);
	if (err) {
		free(made.path);
		free(made.temporary);
		return err;
	}
	*out = made;
	return 0;
}

/* Standard output stays open: the caller did not open it. */
static int finish_file(FILE *file)
{
	int err = 0;

	errno = 0;
	if (fflush(file) || ferror(file))
		err = errno ? -errno : -EIO;
	if (file != stdout && fclose(file) && !err)
		err = -errno;
	return err;
}

int output_commit(struct output *out)
{
	int err = finish_file(out->file);

	out->file = NULL;
	if (!err && out->temporary && rename(out->temporary, out->path))
		err = -errno;
	if (err && out->temporary)
		unlink(out->temporary);
	free(out->temporary);
	free(out->path);
	*out = (struct output){ 0 };
	return err;
}

void output_abort(struct output *out)
{
	if (out->file && out->file != stdout)
		fclose(out->file);
	if (out->temporary)
		unlink(out->temporary);
	free(out->temporary);
	free(out->path);
	*out = (struct output){ 0 };
}
