/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/fakes_jfr.h"

#include <errno.h>
#include <unistd.h>

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

/* A full disk takes the first half, and has no trouble with what is in the file already. */
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	ssize_t written;

	count_call();
	if (fake_disk.full_at && fake_disk.calls > fake_disk.full_at && size > 8) {
		errno = ENOSPC;
		return -1;
	}
	if (fake_disk.full_at && fake_disk.calls == fake_disk.full_at && size > 8)
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
