/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_IO_H
#define JVS_IO_H

#include "jvs_object.h"
#include "jvs_vm.h"

/*
 * Reads and writes of sockets and files by the native methods of the JDK: what io.bpf.c and
 * userspace agree on.
 */

enum jvs_io_op {
	JVS_IO_SOCKET_READ,
	JVS_IO_SOCKET_WRITE,
	JVS_IO_FILE_READ,
	JVS_IO_FILE_WRITE,
	JVS_IO_FILE_FORCE,
	JVS_IO_OPS,
};

/* Fields with a descriptor: FileDescriptor.fd, and those of objects that have a FileDescriptor. */
enum jvs_io_field {
	JVS_IO_DESCRIPTOR,
	JVS_IO_INPUT,
	JVS_IO_OUTPUT,
	JVS_IO_RANDOM,
	JVS_IO_FIELDS,
};

/*
 * HotSpot's id of a field of an object (jfieldID): its offset above two bits. 0 until the class is
 * initialized. With -XX:+VerifyJNIFields there is more above the offset.
 */
#define JVS_IO_ID_SHIFT	   2
#define JVS_IO_ID_CHECKED  1u
#define JVS_IO_ID_INSTANCE 2u
#define JVS_IO_ID_SMALL	   127u /* offsets when it is checked */

#define JVS_IO_NAME   64
#define JVS_IO_INET   2 /* AF_INET */
#define JVS_IO_INET6  10
#define JVS_IO_NO_FD  (-1)
#define JVS_IO_SOCKET 0xc000 /* of the bits of a file's mode that say what it is: S_IFSOCK */
#define JVS_IO_KIND   0xf000

/*
 * JVS_EVENT_IO: a call that took as long as the threshold, or longer. event.time_ns is its return.
 * What the descriptor stands for is as the kernel had it then, and 0 when it was another at the
 * beginning.
 */
struct jvs_io_event {
	struct jvs_event event;
	__u64 start_ns;
	__u64 stack; /* hash; 0: not taken */
	__u64 bytes;
	__u64 inode;
	__u32 device; /* as the kernel numbers it */
	__s32 fd;     /* JVS_IO_NO_FD: not known */
	__u32 timeout_ms;
	__u16 op;     /* enum jvs_io_op */
	__u16 end;    /* 1: of the stream, or of the file; of a force: with its metadata */
	__u16 family; /* of a socket's other side: JVS_IO_INET..., 0: it has none, or is no socket
		       */
	__u16 port;
	__u32 pad;
	__u8 address[16];	/* in the order of the network; of IPv4 the first four */
	char name[JVS_IO_NAME]; /* the last part of the file's path, cut when it is longer */
};
_Static_assert(sizeof(struct jvs_io_event) == 32 + 32 + 24 + 16 + JVS_IO_NAME, "no holes");

/* Written by userspace for each target. */
struct jvs_io_control {
	struct jvs_object_layout objects;
	__u64 fields[JVS_IO_FIELDS]; /* where libjava keeps their ids; 0: not known */
	__u64 threshold_ns;	     /* 0: nothing is to be recorded */
};
_Static_assert(sizeof(struct jvs_io_control) == 88, "no holes");

/* Calls shorter than the threshold. */
struct jvs_io_key {
	__u32 target;
	__u32 op;
	__u64 stack; /* hash; 0: not taken */
};
_Static_assert(sizeof(struct jvs_io_key) == 16, "no holes");

struct jvs_io_sum {
	__u64 count;
	__u64 ns;
	__u64 bytes;
};
#define JVS_IO_SUMS 16384 /* of all targets */

#endif
