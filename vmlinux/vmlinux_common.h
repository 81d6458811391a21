/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_VMLINUX_COMMON_H
#define JVS_VMLINUX_COMMON_H

/*
 * The few kernel types the BPF programs touch, the same on every architecture.
 *
 * Structures hold only the members that are used: libbpf looks the real offsets up in the BTF of
 * the running kernel (CO-RE). So the programs build on a machine whose kernel has no BTF.
 */

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;

/* Named in libbpf's list of helpers. */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef _Bool bool;
#define true 1
#define false 0

/* Map types and flags are part of the kernel's interface: their numbers never change. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_MMAPABLE = 1 << 10,
};

enum { BPF_ANY = 0, BPF_NOEXIST = 1 };

#define BPF_LOCAL_STORAGE_GET_F_CREATE 1

/* bpf_ringbuf_output() and bpf_ringbuf_query() */
enum {
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_RB_FORCE_WAKEUP = 1 << 1,
};
enum { BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1 };

/* task_struct.flags */
#define PF_IO_WORKER 0x00000010
#define PF_EXITING   0x00000004
#define PF_KTHREAD   0x00200000

struct mm_struct;

/* A function that was called while its return was probed. */
struct return_instance {
	unsigned long stack; /* sp when it began */
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
} __attribute__((preserve_access_index));

struct uprobe_task {
	struct return_instance *return_instances; /* innermost first */
} __attribute__((preserve_access_index));

/* What a descriptor stands for. */
struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct super_block {
	__u32 s_dev;
} __attribute__((preserve_access_index));

struct inode {
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data; /* of a socket: struct socket */
} __attribute__((preserve_access_index));

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));

struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));

struct in6_addr {
	__u8 bytes[16]; /* no member of the kernel's: the whole is read */
};

struct sock_common {
	__be32 skc_daddr;
	__be16 skc_dport;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr;
} __attribute__((preserve_access_index));

struct sock {
	struct sock_common __sk_common;
} __attribute__((preserve_access_index));

struct socket {
	struct sock *sk;
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int flags;
	struct files_struct *files;
	struct uprobe_task *utask; /* NULL: never met a probe */
	struct mm_struct *mm;	   /* NULL: a kernel thread, or a thread that is exiting */
} __attribute__((preserve_access_index));

#endif
