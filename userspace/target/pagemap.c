/* SPDX-License-Identifier: Apache-2.0 */
#include "target/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "target/proc.h"

#define WORDS_AT_ONCE 512

int pagemap_open(pid_t pid)
{
	return proc_open(pid, "pagemap", O_RDONLY);
}

int pagemap_read(int fd, uint64_t addr, size_t count, uint64_t *words)
{
	uint64_t at = addr / PAGE_BYTES * sizeof(*words);
	size_t size = count * sizeof(*words), done = 0;
	ssize_t got;

	if (addr > INT64_MAX)
		return -EFAULT;
	while (done < size) {
		got = pread(fd, (char *)words + done, size - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == ESRCH ? -ESRCH : -EFAULT;
		if (got == 0)
			return -EFAULT;
		done += (size_t)got;
	}
	return 0;
}

bool pagemap_all_present(int fd, uint64_t addr, size_t size)
{
	uint64_t words[WORDS_AT_ONCE] = { 0 };
	uint64_t page = addr / PAGE_BYTES;
	uint64_t end;

	if (!size || addr > INT64_MAX - size)
		return false;
	end = (addr + size - 1) / PAGE_BYTES + 1;
	while (page < end) {
		size_t count = end - page < WORDS_AT_ONCE ? end - page : WORDS_AT_ONCE;

		if (pagemap_read(fd, page * PAGE_BYTES, count, words))
			return false;
		for (size_t i = 0; i < count; i++)
			if (!(words[i] & PAGEMAP_PRESENT))
				return false;
		page += count;
	}
	return true;
}
