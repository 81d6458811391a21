/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/decode.h"
#include "live/keys.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "live/vm_io.h"
#include "model/io.h"
#include "model/recording.h"
#include "target/target.h"

/* Reads and writes of sockets and files: what records say, and what was shorter. */

#define NS_PER_MS 1000000ull

static const enum rec_metric metrics[JVS_IO_OPS] = {
	[JVS_IO_SOCKET_READ] = REC_SOCKET_READ, [JVS_IO_SOCKET_WRITE] = REC_SOCKET_WRITE,
	[JVS_IO_FILE_READ] = REC_FILE_READ,	[JVS_IO_FILE_WRITE] = REC_FILE_WRITE,
	[JVS_IO_FILE_FORCE] = REC_FILE_FORCE,
};

/* ---- whose they are */

static const char gone[] = " (deleted)"; /* what the kernel appends */

/* Whether a descriptor's path is that of the file which the kernel saw. */
static bool is_path_of(const char *link, const char *path, const struct jvs_io_event *event)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!stat(link, &st) && st.st_ino == event->inode)
		return true;
	return slash && event->name[0] && !strcmp(slash + 1, event->name);
}

/* The path that the descriptor has now; it may be another file's meanwhile. Returns its length. */
static size_t read_path(const struct process *p, const struct jvs_io_event *event,
			char path[PATH_MAX])
{
	const size_t suffix = sizeof(gone) - 1;
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", p->target->pid, event->fd);
	len = readlink(link, path, PATH_MAX - 1);
	if (len <= 0)
		return 0;
	path[len] = '\0';
	if ((size_t)len > suffix && !strcmp(path + (size_t)len - suffix, gone))
		path[(size_t)len - suffix] = '\0';
	return is_path_of(link, path, event) ? strlen(path) : 0;
}

/* The path; where the file was closed before it could be read, the last part of it. */
static uint32_t path_of(struct vm_io *io, const struct process *p, struct recording *rec,
			const struct jvs_io_event *event)
{
	struct vm_io_path *known = &io->paths[(event->inode ^ event->device) % VM_IO_PATHS];
	char path[PATH_MAX];
	size_t len;

	if (!event->inode)
		return 0;
	len = read_path(p, event, path);
	if (len) {
		*known = (struct vm_io_path){ event->inode, event->device,
					      rec_string(rec, path, len) };
		return known->string;
	}
	if (known->string && known->inode == event->inode && known->device == event->device)
		return known->string;
	return rec_string(rec, event->name, strnlen(event->name, sizeof(event->name)));
}

/* An address of IPv4 that a socket of IPv6 has is shown as what it is. */
static uint32_t address_of(struct recording *rec, const struct jvs_io_event *event)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool old = event->family == JVS_IO_INET;
	char text[INET6_ADDRSTRLEN];
	const uint8_t *address = event->address;

	if (!event->family)
		return 0;
	if (!old && !memcmp(address, mapped, sizeof(mapped))) {
		old = true;
		address += sizeof(mapped);
	}
	if (!inet_ntop(old ? AF_INET : AF_INET6, address, text, sizeof(text)))
		return 0;
	return rec_string(rec, text, strlen(text));
}

/* ---- records */

static void add_totals(struct recording *rec, const struct rec_key *of, uint64_t count, uint64_t ns,
		       uint64_t bytes)
{
	struct rec_key key = *of;

	rec_add(rec, &key, (int64_t)count, (int64_t)ns);
	if (rec_io_metric(of->metric, &key.metric) && key.metric != REC_METRIC_NR)
		rec_add(rec, &key, (int64_t)count, (int64_t)bytes);
}

void vm_take_io(struct vm_target *t, struct decoder *d, struct process *p, struct recording *rec,
		const struct jvs_io_event *event)
{
	struct rec_key key = { .jvm = p->rec_jvm };
	struct rec_io row = { .jvm = p->rec_jvm,
			      .time_ns = d->epoch_ns + (int64_t)event->start_ns,
			      .duration_ns = event->event.time_ns - event->start_ns,
			      .bytes = event->bytes,
			      .timeout_ns = event->timeout_ms * NS_PER_MS,
			      .port = event->port,
			      .end = event->end && event->op != JVS_IO_FILE_FORCE,
			      .metadata = event->end && event->op == JVS_IO_FILE_FORCE };

	if (!t->io || event->op >= JVS_IO_OPS) {
		d->bad_records++;
		return;
	}
	row.metric = metrics[event->op];
	if (event->op == JVS_IO_SOCKET_READ || event->op == JVS_IO_SOCKET_WRITE)
		row.address = address_of(rec, event);
	else
		row.path = path_of(t->io, p, rec, event);
	row.thread = decode_thread(p, rec, &event->event);
	if (event->stack)
		decode_stack(d, event->stack, &row.stack);
	rec_io(rec, &row);
	key.metric = row.metric;
	key.stack = row.stack;
	key.thread = row.thread;
	key.label = row.path ? row.path : row.address;
	add_totals(rec, &key, 1, row.duration_ns, row.bytes);
}

/* ---- what was shorter */

static struct keys sums_of(const struct vm *vm)
{
	return (struct keys){ .map_fd = vm->io_sums_fd,
			      .size = sizeof(struct jvs_io_key),
			      .target_at = offsetof(struct jvs_io_key, target),
			      .limit = JVS_IO_SUMS };
}

struct telling {
	const struct vm *vm;
	struct decoder *d;
	const struct process *p;
	struct recording *rec;
};

/* What came since it was told last. */
static void tell_more(const struct telling *telling, const struct jvs_io_sum *sum,
		      struct vm_io_sum *row)
{
	struct rec_key key = { .metric = metrics[row->key.op], .jvm = telling->p->rec_jvm };

	if (sum->count == row->told.count)
		return;
	if (row->key.stack)
		decode_stack(telling->d, row->key.stack, &key.stack);
	add_totals(telling->rec, &key, sum->count - row->told.count, sum->ns - row->told.ns,
		   sum->bytes - row->told.bytes);
	row->told = *sum;
}

static void tell_sum(const void *record, void *ctx)
{
	const struct jvs_io_key *key = record;
	const struct telling *telling = ctx;
	struct vm_io *io = telling->vm->targets[telling->p->index].io;
	const struct vm_io_sum row = { .key = *key };
	struct jvs_io_sum sum;
	uint32_t id;

	if (!io || key->op >= JVS_IO_OPS ||
	    bpf_map_lookup_elem(telling->vm->io_sums_fd, key, &sum) ||
	    table_add(&io->sums, &row, JVS_IO_SUMS, &id))
		return;
	tell_more(telling, &sum, table_get(&io->sums, id));
}

void vm_tell_io(const struct vm *vm, struct decoder *d, const struct process *p,
		struct recording *rec)
{
	const struct keys sums = sums_of(vm);
	struct telling telling = { vm, d, p, rec };

	if (vm->groups & 1u << JVS_VM_IO)
		keys_each(&sums, p->index, tell_sum, &telling);
}

void vm_drop_io(const struct vm *vm, uint32_t target)
{
	const struct keys sums = sums_of(vm);

	if (vm->groups & 1u << JVS_VM_IO)
		keys_drop(&sums, target);
}
