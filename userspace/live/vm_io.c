/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "live/vm_io.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/target.h"

/*
 * Reads and writes of sockets and files: native methods of the JDK's own libraries, which are in
 * the symbols that every build exports. A library is probed by its file, so also before it is
 * loaded.
 */

#define THRESHOLD_NS 20000000 /* of the JDK's own default settings */

/* ---- places */

#define STREAM "Java_java_io_"
#define NIO    "Java_sun_nio_ch_"

static const struct probe java_probes[] = {
	{ STREAM "FileInputStream_readBytes", PROBE_METHOD, JVS_VM_IO_INPUT },
	{ STREAM "FileInputStream_read0", PROBE_METHOD, JVS_VM_IO_INPUT_BYTE },
	{ STREAM "FileOutputStream_writeBytes", PROBE_CALL, JVS_VM_IO_OUTPUT },
	{ STREAM "FileOutputStream_write", PROBE_METHOD, JVS_VM_IO_OUTPUT_BYTE },
	{ STREAM "RandomAccessFile_readBytes", PROBE_METHOD, JVS_VM_IO_RANDOM_READ },
	{ STREAM "RandomAccessFile_readBytes0", PROBE_METHOD, JVS_VM_IO_RANDOM_READ },
	{ STREAM "RandomAccessFile_read0", PROBE_METHOD, JVS_VM_IO_RANDOM_READ_BYTE },
	{ STREAM "RandomAccessFile_writeBytes", PROBE_CALL, JVS_VM_IO_RANDOM_WRITE },
	{ STREAM "RandomAccessFile_writeBytes0", PROBE_CALL, JVS_VM_IO_RANDOM_WRITE },
	{ STREAM "RandomAccessFile_write0", PROBE_METHOD, JVS_VM_IO_RANDOM_WRITE_BYTE },
};

/* FileDispatcherImpl up to JDK 20, which has sockets, too, where SocketDispatcher lacks a method.
 */
static const struct probe nio_probes[] = {
	{ NIO "SocketDispatcher_read0", PROBE_CALL, JVS_VM_IO_SOCKET_READ },
	{ NIO "SocketDispatcher_readv0", PROBE_CALL, JVS_VM_IO_SOCKET_READ },
	{ NIO "SocketDispatcher_write0", PROBE_CALL, JVS_VM_IO_SOCKET_WRITE },
	{ NIO "SocketDispatcher_writev0", PROBE_CALL, JVS_VM_IO_SOCKET_WRITE },
	{ NIO "FileDispatcherImpl_read0", PROBE_CALL, JVS_VM_IO_CHANNEL_READ },
	{ NIO "FileDispatcherImpl_readv0", PROBE_CALL, JVS_VM_IO_CHANNEL_READ },
	{ NIO "FileDispatcherImpl_pread0", PROBE_CALL, JVS_VM_IO_CHANNEL_READ },
	{ NIO "FileDispatcherImpl_write0", PROBE_CALL, JVS_VM_IO_CHANNEL_WRITE },
	{ NIO "FileDispatcherImpl_writev0", PROBE_CALL, JVS_VM_IO_CHANNEL_WRITE },
	{ NIO "FileDispatcherImpl_pwrite0", PROBE_CALL, JVS_VM_IO_CHANNEL_WRITE },
	{ NIO "FileDispatcherImpl_force0", PROBE_CALL, JVS_VM_IO_FORCE },
	{ NIO "UnixFileDispatcherImpl_read0", PROBE_CALL, JVS_VM_IO_CHANNEL_READ },
	{ NIO "UnixFileDispatcherImpl_readv0", PROBE_CALL, JVS_VM_IO_CHANNEL_READ },
	{ NIO "UnixFileDispatcherImpl_pread0", PROBE_CALL, JVS_VM_IO_CHANNEL_READ },
	{ NIO "UnixFileDispatcherImpl_write0", PROBE_CALL, JVS_VM_IO_CHANNEL_WRITE },
	{ NIO "UnixFileDispatcherImpl_writev0", PROBE_CALL, JVS_VM_IO_CHANNEL_WRITE },
	{ NIO "UnixFileDispatcherImpl_pwrite0", PROBE_CALL, JVS_VM_IO_CHANNEL_WRITE },
	{ NIO "UnixFileDispatcherImpl_force0", PROBE_CALL, JVS_VM_IO_FORCE },
	{ NIO "Net_poll", PROBE_CALL, JVS_VM_IO_POLL },
};

/* Sockets of java.net up to JDK 12, and to 17 where they were asked for. */
static const struct probe net_probes[] = {
	{ "Java_java_net_SocketInputStream_socketRead0", PROBE_CALL, JVS_VM_IO_OLD_READ },
	{ "Java_java_net_SocketOutputStream_socketWrite0", PROBE_CALL, JVS_VM_IO_OLD_WRITE },
};

#define PROBES(table) (table), sizeof(table) / sizeof((table)[0])

enum { LIBJAVA, LIBNIO, LIBNET };

static const struct {
	const char *name;
	const struct probe *probes;
	size_t count;
} libraries[VM_IO_LIBRARIES] = {
	[LIBJAVA] = { "libjava.so", PROBES(java_probes) },
	[LIBNIO] = { "libnio.so", PROBES(nio_probes) },
	[LIBNET] = { "libnet.so", PROBES(net_probes) },
};

/* Field ids that libjava keeps for itself: as in all JDKs from 8 on. */
static const char *const field_ids[JVS_IO_FIELDS] = {
	[JVS_IO_DESCRIPTOR] = "IO_fd_fdID",
	[JVS_IO_INPUT] = "fis_fd",
	[JVS_IO_OUTPUT] = "fos_fd",
	[JVS_IO_RANDOM] = "raf_fd",
};

/* ---- libraries */

struct library {
	struct mapping mapping; /* where it is loaded; else what is known of its file */
	char path[PATH_MAX];
};

/* In the folder above that of libjvm.so. */
static bool name_library(const char *libjvm, const char *name, char path[PATH_MAX])
{
	const char *file = strrchr(libjvm, '/'), *folder;

	folder = file ? memrchr(libjvm, '/', (size_t)(file - libjvm)) : NULL;
	return folder &&
	       snprintf(path, PATH_MAX, "%.*s/%s", (int)(folder - libjvm), libjvm, name) < PATH_MAX;
}

static int find_library(const struct target *target, const struct maps *maps, const char *libjvm,
			int which, struct library *out)
{
	struct stat st;
	int file, err = 0;

	if (!name_library(libjvm, libraries[which].name, out->path))
		return -ENOENT;
	for (size_t i = 0; i < maps->count; i++) {
		if (strcmp(maps->items[i].path, out->path) != 0)
			continue;
		out->mapping = maps->items[i];
		return 0;
	}
	file = target_open_below_root(target, out->path);
	if (file < 0)
		return file;
	if (fstat(file, &st))
		err = -errno;
	close(file);
	out->mapping = (struct mapping){ .inode = st.st_ino, .path = out->path };
	return err;
}

static void note_fields(struct vm_io *io, const struct library *library, struct image *image)
{
	uint64_t size;

	io->libjava_inode = library->mapping.inode;
	for (int i = 0; i < JVS_IO_FIELDS; i++)
		if (image_object(image, field_ids[i], &io->fields[i], &size))
			io->fields[i] = 0;
}

/* Returns 0 or why it cannot be probed. */
static int attach_library(struct vm *vm, const struct process *p, const struct maps *maps,
			  const char *libjvm, int which)
{
	struct vm_io *io = vm->targets[p->index].io;
	struct library library;
	struct image *image;
	struct probe_request request = { .object = vm->object,
					 .group = VM_GROUP,
					 .links = vm->links,
					 .target = p->target,
					 .mapping = &library.mapping,
					 .probes = libraries[which].probes,
					 .count = libraries[which].count };
	int err = find_library(p->target, maps, libjvm, which, &library);

	if (!err)
		err = image_open(p->target, &library.mapping, &image);
	if (err)
		return err;
	request.image = image;
	if (which == LIBJAVA)
		note_fields(io, &library, image);
	err = probes_find(&request, &io->sets[which]);
	image_close(image);
	return err ? err : probes_attach(&io->sets[which]);
}

/* ---- what is missing */

/* Whether a library has a place, by whichever of its names. */
static bool has_place(const struct vm_io *io, int which, uint32_t place)
{
	for (size_t i = 0; i < libraries[which].count; i++)
		if (libraries[which].probes[i].id == place && io->sets[which].found & 1ull << i)
			return true;
	return false;
}

/* What a library lacks, NULL: nothing. Which class has the methods of sockets differs by JDK. */
static const char *find_missing(const struct vm_io *io, int which)
{
	for (size_t i = 0; i < libraries[which].count; i++) {
		const struct probe *probe = &libraries[which].probes[i];

		if (probe->id != JVS_VM_IO_SOCKET_READ && probe->id != JVS_VM_IO_SOCKET_WRITE &&
		    !has_place(io, which, probe->id))
			return probe->symbol;
	}
	return NULL;
}

static void say_missing(const struct process *p, const struct vm_io *io, int which, int err)
{
	const char *missing = err ? NULL : find_missing(io, which);

	if (which == LIBNET && (!err || err == -ENOENT))
		return;
	if (err)
		log_warn("pid %d: its %s cannot be probed: %s: not all reads and writes are known",
			 p->target->pid, libraries[which].name, strerror(-err));
	else if (missing)
		log_info("pid %d: its %s has no %s: not all reads and writes are known",
			 p->target->pid, libraries[which].name, missing);
}

/* ---- attaching */

void vm_io_attach(struct vm *vm, const struct process *p, const struct maps *maps,
		  const char *libjvm)
{
	struct vm_target *t = &vm->targets[p->index];
	bool attached = false;

	t->io = calloc(1, sizeof(*t->io));
	if (!t->io) {
		log_warn("pid %d: no reads and writes: %s", p->target->pid, strerror(ENOMEM));
		return;
	}
	t->io->sums.row_size = sizeof(struct vm_io_sum);
	t->io->sums.key_size = sizeof(struct jvs_io_key);
	/* Before the first call is seen: what is not known of it yet is left out. */
	t->io->control.threshold_ns = THRESHOLD_NS;
	bpf_map_update_elem(vm->io_fd, &p->index, &t->io->control, BPF_ANY);
	for (int which = 0; which < VM_IO_LIBRARIES; which++) {
		int err = attach_library(vm, p, maps, libjvm, which);

		say_missing(p, t->io, which, err);
		attached |= !err;
	}
	if (attached)
		vm_begin_budget(vm, p, JVS_VM_IO);
}

void vm_io_free(struct vm_io *io)
{
	if (!io)
		return;
	for (int which = 0; which < VM_IO_LIBRARIES; which++)
		probes_free(&io->sets[which]);
	table_free(&io->sums);
	free(io);
}

/* ---- how objects look */

static const struct process_mapping *mapping_of(const struct process *p, uint64_t inode)
{
	for (size_t i = 0; inode && i < p->current.count; i++)
		if (p->current.items[i].inode == inode && p->current.items[i].loaded)
			return &p->current.items[i];
	return NULL;
}

void vm_io_show(const struct vm *vm, const struct process *p)
{
	const struct vm_target *t = &vm->targets[p->index];
	const struct process_mapping *libjava;
	struct vm_io *io = t->io;

	if (!io || io->shown || !t->lock.objects.klass_kind)
		return;
	libjava = mapping_of(p, io->libjava_inode);
	if (!libjava)
		return;
	io->shown = true;
	io->control.objects = t->lock.objects;
	for (int i = 0; i < JVS_IO_FIELDS; i++)
		if (io->fields[i])
			io->control.fields[i] = io->fields[i] + libjava->bias;
	bpf_map_update_elem(vm->io_fd, &p->index, &io->control, BPF_ANY);
	if (!io->fields[JVS_IO_DESCRIPTOR])
		log_info("pid %d: its libjava.so has no symbols: paths and addresses of what is "
			 "read and written are not known",
			 p->target->pid);
}
