/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/events.h"

/* The part of events.h that tells who maps what. */

#define PAGE	   4096
#define DATA_PAGES 16 /* one JVM start is 5 kB of records */
#define DATA_BYTES ((uint64_t)DATA_PAGES * PAGE)

struct sideband_cpu {
	int fd;
	struct perf_event_mmap_page *page;
};

static int open_cpu(int cpu, struct sideband_cpu *out)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.mmap = 1,
					.mmap2 = 1,
					.comm = 1,
					.comm_exec = 1,
					.watermark = 1,
					.wakeup_watermark = 1 };
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	void *page;
	int err;

	if (fd < 0)
		return -errno;
	page = mmap(NULL, PAGE + DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	if (page == MAP_FAILED) {
		err = -errno;
		close((int)fd);
		return err;
	}
	*out = (struct sideband_cpu){ .fd = (int)fd, .page = page };
	return 0;
}

int sideband_open(struct sideband *out)
{
	struct sideband sideband = { .epoll = epoll_create1(EPOLL_CLOEXEC) };
	int *cpus = NULL, count = online_cpus(&cpus), err = -ENOMEM;

	if (sideband.epoll < 0 || count <= 0)
		goto out;
	sideband.cpus = calloc((size_t)count, sizeof(*sideband.cpus));
	if (!sideband.cpus)
		goto out;
	for (int i = 0; i < count; i++) {
		struct sideband_cpu *cpu = &sideband.cpus[sideband.count];
		struct epoll_event event = { .events = EPOLLIN };

		err = open_cpu(cpus[i], cpu);
		/* A CPU may have gone off line since. */
		if (err == -ENODEV || err == -ENXIO)
			continue;
		if (err)
			goto out;
		sideband.count++;
		if (epoll_ctl(sideband.epoll, EPOLL_CTL_ADD, cpu->fd, &event)) {
			err = -errno;
			goto out;
		}
	}
	*out = sideband;
	sideband = (struct sideband){ .epoll = -1 };
	err = 0;
out:
	free(cpus);
	sideband_close(&sideband);
	return err;
}

/* Copies from the circular data area. */
static void copy_out(const uint8_t *data, uint64_t from, void *to, size_t size)
{
	size_t at = from % DATA_BYTES, first = DATA_BYTES - at;

	if (first > size)
		first = size;
	memcpy(to, data + at, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

/* The start of a record, as far as it is read here; the records asked for begin with the pid. */
struct raw_record {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	uint64_t address; /* PERF_RECORD_MMAP2 */
};

/* Returns whether the record is one of those that are told. */
static bool parse(const struct raw_record *raw, struct sideband_record *out)
{
	*out = (struct sideband_record){ .pid = (pid_t)raw->pid };
	switch (raw->header.type) {
	case PERF_RECORD_MMAP2:
		out->event = SIDEBAND_MAPPED;
		out->address = raw->address;
		return true;
	case PERF_RECORD_COMM:
		out->event = raw->header.misc & PERF_RECORD_MISC_COMM_EXEC ? SIDEBAND_EXEC
									   : SIDEBAND_NAMED;
		return true;
	case PERF_RECORD_LOST:
		*out = (struct sideband_record){ .event = SIDEBAND_LOST, .pid = -1 };
		return true;
	}
	return false;
}

static void drain_cpu(struct sideband_cpu *cpu,
		      void (*seen)(const struct sideband_record *record, void *ctx), void *ctx)
{
	uint64_t head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = cpu->page->data_tail;
	const uint8_t *data = (const uint8_t *)cpu->page + PAGE;

	while (tail + sizeof(struct perf_event_header) <= head) {
		struct raw_record raw = { 0 };
		struct sideband_record record;

		copy_out(data, tail, &raw, sizeof(raw));
		if (raw.header.size < sizeof(raw.header))
			break;
		if (parse(&raw, &record))
			seen(&record, ctx);
		tail += raw.header.size;
	}
	__atomic_store_n(&cpu->page->data_tail, head, __ATOMIC_RELEASE);
}

void sideband_drain(struct sideband *sideband,
		    void (*seen)(const struct sideband_record *record, void *ctx), void *ctx)
{
	for (size_t i = 0; i < sideband->count; i++)
		drain_cpu(&sideband->cpus[i], seen, ctx);
}

void sideband_close(struct sideband *sideband)
{
	for (size_t i = 0; i < sideband->count; i++) {
		munmap(sideband->cpus[i].page, PAGE + DATA_BYTES);
		close(sideband->cpus[i].fd);
	}
	free(sideband->cpus);
	if (sideband->epoll >= 0)
		close(sideband->epoll);
	*sideband = (struct sideband){ .epoll = -1 };
}
