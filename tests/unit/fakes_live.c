/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/fakes_live.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/jvs_object.h"
#include "target/maps.h"
#include "target/target.h"

#define EVENT_BYTES (17 * 4096) /* the page and the records of one event of the side band */

struct fakes fakes;

void fakes_reset(void)
{
	fakes = (struct fakes){ 0 };
	for (size_t i = 0; i < FAKE_MAPS; i++) {
		fakes.maps[i].capacity = FAKE_MAP_ROWS;
		fakes.maps[i].value_size = sizeof(uint64_t);
	}
}

struct jvm *fake_jvm(void)
{
	static uint64_t nothing;

	return (struct jvm *)(void *)&nothing;
}

/* A fake, and the function it stands for; the Makefile lists their names. */
#define FAKE(type, name, ...)            \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

/* ---- BPF maps */

static struct fake_map *map_of(int fd)
{
	return fd >= FAKE_MAP_FD && fd < FAKE_MAP_FD + FAKE_MAPS ? &fakes.maps[fd - FAKE_MAP_FD]
								 : NULL;
}

static size_t row_of(const struct fake_map *map, uint32_t key)
{
	size_t at = 0;

	while (at < map->count && map->keys[at] != key)
		at++;
	return at;
}

uint64_t fake_map_get(const struct fake_map *map, uint32_t key)
{
	size_t at = row_of(map, key);

	return at < map->count ? map->values[at] : 0;
}

FAKE(int, bpf_map_update_elem, int fd, const void *key, const void *value, __u64 flags)
{
	struct fake_map *map = map_of(fd);
	uint32_t number;
	size_t at;

	if (!map)
		return __real_bpf_map_update_elem(fd, key, value, flags);
	number = (uint32_t)map->updates;
	if (key)
		memcpy(&number, key, sizeof(number));
	at = row_of(map, number);
	if (at >= map->capacity) {
		errno = E2BIG;
		return -E2BIG;
	}
	map->keys[at] = number;
	map->values[at] = 0;
	memcpy(&map->values[at], value, map->value_size);
	map->count += at == map->count;
	map->updates++;
	return 0;
}

static int drop_key(const void *key)
{
	for (size_t i = 0; i < fakes.key_count; i++) {
		char *at = &fakes.keys[i * fakes.key_size];

		if (memcmp(at, key, fakes.key_size) != 0)
			continue;
		fakes.key_count--;
		memmove(at, at + fakes.key_size, (fakes.key_count - i) * fakes.key_size);
		return 0;
	}
	return -ENOENT;
}

FAKE(int, bpf_map_delete_elem, int fd, const void *key)
{
	struct fake_map *map = map_of(fd);
	uint32_t number;
	size_t at;

	if (fakes.keys)
		return drop_key(key);
	if (!map)
		return __real_bpf_map_delete_elem(fd, key);
	memcpy(&number, key, sizeof(number));
	at = row_of(map, number);
	if (at == map->count) {
		errno = ENOENT;
		return -ENOENT;
	}
	map->count--;
	map->keys[at] = map->keys[map->count];
	map->values[at] = map->values[map->count];
	return 0;
}

FAKE(int, bpf_map_lookup_elem, int fd, const void *key, void *value)
{
	uint32_t number;

	if (!map_of(fd) || !fakes.counters)
		return __real_bpf_map_lookup_elem(fd, key, value);
	memcpy(&number, key, sizeof(number));
	if (number < fakes.counter_count)
		memcpy(value, &fakes.counters[number], sizeof(uint64_t));
	if (fakes.counter_was_read)
		fakes.counter_was_read();
	return 0;
}

/* As the kernel does, from the first one again behind a key that is gone. */
FAKE(int, bpf_map_get_next_key, int fd, const void *key, void *next)
{
	size_t at = 0;

	if (!fakes.keys)
		return __real_bpf_map_get_next_key(fd, key, next);
	while (key && at < fakes.key_count &&
	       memcmp(key, &fakes.keys[at * fakes.key_size], fakes.key_size) != 0)
		at++;
	at = key && at < fakes.key_count ? at + 1 : 0;
	if (at >= fakes.key_count)
		return -ENOENT;
	memcpy(next, &fakes.keys[at * fakes.key_size], fakes.key_size);
	return 0;
}

/* A program that was not opened has no maps. */
FAKE(uint64_t, cost_map_bytes, const struct bpf_object *object)
{
	return object ? __real_cost_map_bytes(object) : 0;
}

/* ---- the process */

FAKE(int, target_each_thread, const struct target *t, int (*found)(pid_t tid, void *ctx), void *ctx)
{
	if (!fakes.threads)
		return __real_target_each_thread(t, found, ctx);
	for (size_t i = 0; i < fakes.thread_count; i++)
		found(fakes.threads[i].tid, ctx);
	return 0;
}

FAKE(int, target_thread_cpu_ns, const struct target *t, pid_t tid, uint64_t *out)
{
	if (!fakes.threads)
		return __real_target_thread_cpu_ns(t, tid, out);
	for (size_t i = 0; i < fakes.thread_count; i++) {
		if (fakes.threads[i].tid != tid)
			continue;
		*out = fakes.threads[i].cpu_ns;
		return 0;
	}
	return -ENOENT;
}

FAKE(int, maps_read, pid_t pid, struct maps *out)
{
	char *text;

	if (!fakes.maps_text)
		return __real_maps_read(pid, out);
	text = strdup(fakes.maps_text);
	return text ? maps_parse(text, out) : -ENOMEM;
}

FAKE(FILE *, fopen, const char *path, const char *mode)
{
	if (fakes.cpus_text && strcmp(path, "/sys/devices/system/cpu/online") == 0)
		return *fakes.cpus_text ? fmemopen((void *)(uintptr_t)fakes.cpus_text,
						   strlen(fakes.cpus_text), "r")
					: NULL;
	return __real_fopen(path, mode);
}

/* ---- the JVM */

FAKE(int, jvm_threads, struct jvm *jvm, struct jvm_thread **out, size_t *count)
{
	if (jvm != fake_jvm())
		return __real_jvm_threads(jvm, out, count);
	*count = fakes.java_count;
	*out = calloc(fakes.java_count + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	if (fakes.java_count)
		memcpy(*out, fakes.java_threads, fakes.java_count * sizeof(**out));
	return 0;
}

FAKE(bool, jvm_in_code_heap, const struct jvm *jvm, uint64_t addr)
{
	if (jvm != fake_jvm())
		return __real_jvm_in_code_heap(jvm, addr);
	return addr >= fakes.code_heap_low && addr < fakes.code_heap_high;
}

FAKE(void, jvm_close, struct jvm *jvm)
{
	if (jvm != fake_jvm())
		__real_jvm_close(jvm);
}

FAKE(int, jvm_major, const struct jvm *jvm)
{
	return jvm == fake_jvm() ? fakes.major : __real_jvm_major(jvm);
}

FAKE(int, jvm_object_layout, const struct jvm *jvm, struct jvs_object_layout *out)
{
	size_t last = fakes.object_error_count ? fakes.object_error_count - 1 : 0;
	size_t at = fakes.objects_asked < last ? fakes.objects_asked : last;
	int err = fakes.object_errors ? fakes.object_errors[at] : 0;

	if (jvm != fake_jvm())
		return __real_jvm_object_layout(jvm, out);
	fakes.objects_asked++;
	if (!err)
		*out = (struct jvs_object_layout){ .klass_kind = JVS_KLASS_NARROW };
	return err;
}

FAKE(int, jvm_task_layout, const struct jvm *jvm, struct jvm_task_layout *out)
{
	if (jvm != fake_jvm())
		return __real_jvm_task_layout(jvm, out);
	if (!fakes.task_error)
		*out = (struct jvm_task_layout){ .method = 8 };
	return fakes.task_error;
}

FAKE(int, jvm_describe, struct jvm *jvm, const struct jvs_frame *frame, bool leaf,
     struct jvm_frame out[JVM_INLINE_MAX])
{
	if (jvm != fake_jvm())
		return __real_jvm_describe(jvm, frame, leaf, out);
	fakes.described++;
	if (!fakes.method.number)
		return -ESTALE;
	*out = (struct jvm_frame){ .type = JVM_FRAME_INTERPRETED,
				   .method = &fakes.method,
				   .bci = (int)frame->offset,
				   .line = -1 };
	return 1;
}

FAKE(int, jvm_frame_at, const struct jvm *jvm, uint64_t pc, struct jvs_frame *out)
{
	if (jvm != fake_jvm())
		return __real_jvm_frame_at(jvm, pc, out);
	*out = (struct jvs_frame){ .word = jvs_frame_word(pc, JVS_FRAME_NMETHOD, JVS_HOW_LEAF) };
	return 0;
}

FAKE(void, jvm_number_methods, struct jvm *jvm, const struct jvs_frame *const *frames, size_t count,
     uint32_t *numbers)
{
	if (jvm != fake_jvm()) {
		__real_jvm_number_methods(jvm, frames, count, numbers);
		return;
	}
	for (size_t i = 0; i < count; i++)
		numbers[i] = fakes.method.number;
}

/* ---- perf events */

static long open_event(const struct perf_event_attr *attr, int cpu)
{
	const uint64_t counted[] = { fakes.cycles, fakes.counter_ns };
	size_t at = cpu < 0 ? 0 : (size_t)cpu;
	bool cycles = attr->type == PERF_TYPE_HARDWARE;
	int fd;

	if (cycles && !fakes.cycles)
		errno = ENOENT;
	else if (cpu >= FAKE_CPUS)
		errno = ENODEV;
	else if (cpu >= 0 && cycles && fakes.cycles_error[at])
		errno = fakes.cycles_error[at];
	else
		errno = cpu >= 0 ? fakes.open_error[at] : 0;
	if (errno)
		return -1;
	fd = memfd_create("event", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, EVENT_BYTES) ||
	    pwrite(fd, counted, sizeof(counted), 0) != sizeof(counted))
		return -1;
	if (cpu >= 0)
		fakes.event_fd[at] = fd;
	return fd;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number != SYS_perf_event_open || !fakes.cpus_text)
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return open_event((const struct perf_event_attr *)a[0], (int)a[2]);
}

/* The stand-in for an event is a file, which cannot be waited for. */
FAKE(int, epoll_ctl, int epoll, int op, int fd, struct epoll_event *event)
{
	return fakes.cpus_text ? 0 : __real_epoll_ctl(epoll, op, fd, event);
}

/* As in the kernel, where many that are closed at the same time wait as long as one. */
#define CLOSE_SECONDS 5

FAKE(int, close, int fd)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
	struct timespec end;

	if (fd < FAKE_LINK_FD || fd >= FAKE_LINK_FD + (int)fakes.links)
		return __real_close(fd);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += CLOSE_SECONDS;
	pthread_mutex_lock(&lock);
	fakes.closing++;
	pthread_cond_broadcast(&came);
	while (fakes.closing < fakes.links)
		if (pthread_cond_timedwait(&came, &lock, &end)) {
			fakes.closing--;
			break;
		}
	pthread_mutex_unlock(&lock);
	return 0;
}

struct fake_link {
	int fd;
};

FAKE(struct bpf_link *, bpf_program__attach_perf_event, const struct bpf_program *program, int fd)
{
	struct fake_link *link;

	if (!fakes.cpus_text)
		return __real_bpf_program__attach_perf_event(program, fd);
	link = fakes.refuse_attach ? NULL : malloc(sizeof(*link));
	if (!link) {
		errno = EPERM;
		return NULL;
	}
	link->fd = fd;
	fakes.attached++;
	return (struct bpf_link *)(void *)link;
}

FAKE(int, bpf_link__destroy, struct bpf_link *link)
{
	struct fake_link *fake = (struct fake_link *)(void *)link;

	if (!link || !fakes.cpus_text)
		return __real_bpf_link__destroy(link);
	close(fake->fd);
	free(fake);
	fakes.destroyed++;
	return 0;
}
