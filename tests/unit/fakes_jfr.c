/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/fakes_jfr.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#define FEW_BYTES 68 /* a chunk's header */

struct fake_disk fake_disk;

ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);
int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);

static void count_call(void)
{
	fake_disk.calls++;
}

static void maybe_end(void)
{
	if (fake_disk.end_at && fake_disk.calls == fake_disk.end_at)
		_exit(0);
}

/* A few bytes inside of the file have their room; a space that was only given has not. */
static bool needs_room(int fd, size_t size, off_t offset)
{
	struct stat found;

	return size > FEW_BYTES || fstat(fd, &found) || offset + (off_t)size > found.st_size;
}

/* A full disk takes the first half, and has no trouble with what is in the file already. */
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	bool is_full = fake_disk.full_at && needs_room(fd, size, offset);
	ssize_t written;

	count_call();
	if (is_full && fake_disk.calls > fake_disk.full_at) {
		errno = ENOSPC;
		return -1;
	}
	if (is_full && fake_disk.calls == fake_disk.full_at)
		size /= 2;
	written = __real_pwrite(fd, bytes, size, offset);
	maybe_end();
	return written;
}

int __wrap_ftruncate(int fd, off_t size)
{
	int result;

	count_call();
	result = __real_ftruncate(fd, size);
	maybe_end();
	return result;
}
