/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jvs_io.h"
#include "object.h"
#include "vm_state.h"

/*
 * Reads and writes of sockets and files. A call is measured from its entry to its return, and has
 * the stack of its caller. Which file it is of is looked up at both ends, since another thread may
 * close it meanwhile.
 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JVS_MAX_TARGETS);
	__type(key, __u32);
	__type(value, struct jvs_io_control);
} jvs_io_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, JVS_IO_SUMS);
	__type(key, struct jvs_io_key);
	__type(value, struct jvs_io_sum);
} jvs_io_sums SEC(".maps");

/*
 * A descriptor that does not block, because the read has a timeout: what finds nothing is tried
 * again after a poll, and all of that is one read.
 */
struct jvs_io_try {
	__u64 start_ns; /* 0: none */
	__s32 fd;
	__u32 op;
	__u32 timeout_ms; /* of the first poll */
	__u16 polled;	  /* 1: it may be gone on with */
	__u16 timed_out;
};

struct jvs_io_thread {
	__u64 sp;    /* at the entry; 0: no call */
	__u64 epoch; /* it began in, and so did the tries before it */
	__u64 length;
	struct file *file;
	struct jvs_io_try before;
	struct jvs_io_event event;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct jvs_io_thread);
} jvs_io_threads SEC(".maps");

static __always_inline const struct jvs_io_control *control_of(const struct jvs_vm_call *call)
{
	const struct jvs_io_control *control;
	__u32 target = call->target;

	control = bpf_map_lookup_elem(&jvs_io_controls, &target);
	return control && control->threshold_ns ? control : NULL;
}

static __always_inline struct jvs_io_thread *thread_of(__u64 flags)
{
	return bpf_task_storage_get(&jvs_io_threads, bpf_get_current_task_btf(), NULL, flags);
}

static __always_inline __u64 epoch_of(const struct jvs_vm_call *call)
{
	const struct jvs_vm_layout *layout = jvs_vm_layout_of(call);

	return layout ? layout->epoch : 0;
}

/* ---- the descriptor */

/* A handle's low bits say of which kind it is; those of a thread hold the address as it is. */
#define HANDLE_BITS 3ull

/* Where a field is in its object; 0: not known. */
static __always_inline __u32 offset_of(const struct jvs_io_control *control, __u32 field)
{
	__u64 id;

	if (!control->fields[field])
		return 0;
	id = jvs_word_at(control->fields[field]);
	if (!(id & JVS_IO_ID_INSTANCE))
		return 0;
	id = id & JVS_IO_ID_CHECKED ? id >> JVS_IO_ID_SHIFT & JVS_IO_ID_SMALL
				    : id >> JVS_IO_ID_SHIFT;
	return id;
}

static __always_inline __s32 descriptor_at(const struct jvs_io_control *control, __u64 object)
{
	__u32 offset = offset_of(control, JVS_IO_DESCRIPTOR);
	__s32 fd = JVS_IO_NO_FD;

	if (object && offset)
		bpf_probe_read_user(&fd, sizeof(fd), (const void *)(object + offset));
	return fd;
}

/* Of an object that has a FileDescriptor in a field. */
static __always_inline __s32 descriptor_in(const struct jvs_io_control *control, __u64 object,
					   __u32 field)
{
	__u32 offset = offset_of(control, field);

	if (!object || !offset)
		return JVS_IO_NO_FD;
	return descriptor_at(control, jvs_field_object(&control->objects, object + offset));
}

static __always_inline __s32 find_descriptor(const struct jvs_io_control *control,
					     const struct jvs_vm_call *call)
{
	__u64 self = jvs_word_at(call->args[1] & ~HANDLE_BITS);

	switch (call->site) {
	case JVS_VM_IO_INPUT:
	case JVS_VM_IO_INPUT_BYTE:
		return descriptor_in(control, self, JVS_IO_INPUT);
	case JVS_VM_IO_OUTPUT:
	case JVS_VM_IO_OUTPUT_BYTE:
		return descriptor_in(control, self, JVS_IO_OUTPUT);
	case JVS_VM_IO_RANDOM_READ:
	case JVS_VM_IO_RANDOM_READ_BYTE:
	case JVS_VM_IO_RANDOM_WRITE:
	case JVS_VM_IO_RANDOM_WRITE_BYTE:
		return descriptor_in(control, self, JVS_IO_RANDOM);
	}
	return descriptor_at(control, jvs_word_at(call->args[2] & ~HANDLE_BITS));
}

/* What the kernel has of a descriptor of this process; NULL: nothing. */
static __always_inline struct file *file_of(__s32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;

	if (fd < 0 || !table || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

static __always_inline bool is_socket(struct file *file)
{
	return file && (BPF_CORE_READ(file, f_inode, i_mode) & JVS_IO_KIND) == JVS_IO_SOCKET;
}

static __always_inline void describe_socket(struct jvs_io_event *event, struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sock = BPF_CORE_READ(socket, sk);

	event->family = BPF_CORE_READ(sock, __sk_common.skc_family);
	event->port = __builtin_bswap16(BPF_CORE_READ(sock, __sk_common.skc_dport));
	if (event->family == JVS_IO_INET)
		bpf_core_read(event->address, 4, &sock->__sk_common.skc_daddr);
	else if (event->family == JVS_IO_INET6)
		bpf_core_read(event->address, 16, &sock->__sk_common.skc_v6_daddr);
	else
		event->family = 0;
}

/* Whose it is, when it is still the one that the call began with. */
static __always_inline void describe(struct jvs_io_event *event, struct file *file)
{
	event->inode = 0;
	event->device = 0;
	event->family = 0;
	event->port = 0;
	event->name[0] = 0;
	if (!file || file != file_of(event->fd))
		return;
	event->inode = BPF_CORE_READ(file, f_inode, i_ino);
	event->device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	bpf_probe_read_kernel_str(event->name, sizeof(event->name),
				  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	if (is_socket(file))
		describe_socket(event, file);
}

/* ---- calls */

static __always_inline __u32 op_of(__u32 site, struct file *file)
{
	switch (site) {
	case JVS_VM_IO_SOCKET_READ:
	case JVS_VM_IO_OLD_READ:
		return JVS_IO_SOCKET_READ;
	case JVS_VM_IO_SOCKET_WRITE:
	case JVS_VM_IO_OLD_WRITE:
		return JVS_IO_SOCKET_WRITE;
	case JVS_VM_IO_CHANNEL_READ:
		return is_socket(file) ? JVS_IO_SOCKET_READ : JVS_IO_FILE_READ;
	case JVS_VM_IO_CHANNEL_WRITE:
		return is_socket(file) ? JVS_IO_SOCKET_WRITE : JVS_IO_FILE_WRITE;
	case JVS_VM_IO_FORCE:
		return JVS_IO_FILE_FORCE;
	case JVS_VM_IO_OUTPUT:
	case JVS_VM_IO_OUTPUT_BYTE:
	case JVS_VM_IO_RANDOM_WRITE:
	case JVS_VM_IO_RANDOM_WRITE_BYTE:
		return JVS_IO_FILE_WRITE;
	}
	return JVS_IO_FILE_READ;
}

/* Bytes that a call will have written where it does not say so; of a force the last argument. */
static __always_inline __u64 length_of(const struct jvs_vm_call *call)
{
	switch (call->site) {
	case JVS_VM_IO_OUTPUT:
	case JVS_VM_IO_RANDOM_WRITE:
		return (__u32)call->args[4];
	case JVS_VM_IO_OLD_WRITE:
		return (__u32)call->args[5];
	case JVS_VM_IO_FORCE:
		return (__u8)call->args[3] != 0;
	}
	return 1;
}

/* Only what comes between two tries is of interest. */
static __always_inline int begin_poll(const struct jvs_io_control *control,
				      const struct jvs_vm_call *call, struct jvs_io_thread *thread)
{
	struct jvs_io_try *before = &thread->before;

	if (!before->start_ns || find_descriptor(control, call) != before->fd)
		return JVS_VM_NOTHING;
	thread->sp = call->sp;
	before->polled = 1;
	if (!before->timeout_ms && (__s64)call->args[4] > 0)
		before->timeout_ms = call->args[4];
	return JVS_VM_RETURN;
}

/* Whether the call goes on with what was tried before. */
static __always_inline bool is_next_try(const struct jvs_io_thread *thread)
{
	const struct jvs_io_try *before = &thread->before;

	return before->start_ns && before->polled && before->fd == thread->event.fd &&
	       before->op == thread->event.op;
}

__attribute__((noinline)) int jvs_vm_io(struct jvs_vm_call *call)
{
	const struct jvs_io_control *control;
	struct jvs_io_thread *thread;
	__u64 epoch;

	if (!call)
		return JVS_VM_NOTHING;
	control = control_of(call);
	if (!control)
		return JVS_VM_NOTHING;
	thread = thread_of(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		jvs_vm_count(call->target, JVS_VM_IO, JVS_VM_COUNT_NO_STATE, 1);
		return JVS_VM_NOTHING;
	}
	/* These methods do not call one another. */
	if (thread->sp)
		jvs_vm_count(call->target, JVS_VM_IO, JVS_VM_COUNT_NO_RETURN, 1);
	thread->sp = 0;
	epoch = epoch_of(call);
	if (thread->epoch != epoch)
		thread->before.start_ns = 0;
	thread->epoch = epoch;
	if (call->site == JVS_VM_IO_POLL)
		return begin_poll(control, call, thread);
	thread->sp = call->sp;
	thread->length = length_of(call);
	thread->event.fd = find_descriptor(control, call);
	thread->file = file_of(thread->event.fd);
	thread->event.op = op_of(call->site, thread->file);
	if (!is_next_try(thread)) {
		thread->before.start_ns = 0;
		thread->before.timeout_ms = 0;
		thread->before.timed_out = 0;
		thread->event.start_ns = call->time_ns;
	}
	return JVS_VM_RETURN;
}

/* ---- returns */

/* Results of the native methods of channels, all else below -1 is an error. */
#define RESULT_END	   (-1)
#define RESULT_NOTHING	   (-2) /* it would block */
#define RESULT_INTERRUPTED (-3)

static __always_inline bool is_channel(__u32 site)
{
	return site <= JVS_VM_IO_FORCE;
}

/* Bytes and end by what the method returned. Returns whether there is something to tell. */
static __always_inline void take_result(struct jvs_io_thread *thread, __u32 site, __s32 result)
{
	struct jvs_io_event *event = &thread->event;
	bool reads = event->op == JVS_IO_SOCKET_READ || event->op == JVS_IO_FILE_READ;

	event->end = 0;
	event->bytes = 0;
	if (event->op == JVS_IO_FILE_FORCE) {
		event->end = thread->length;
		return;
	}
	if (!reads && !is_channel(site)) {
		event->bytes = thread->length;
	} else if (site == JVS_VM_IO_INPUT_BYTE || site == JVS_VM_IO_RANDOM_READ_BYTE) {
		event->bytes = result >= 0;
		event->end = result < 0;
	} else {
		event->bytes = result > 0 ? result : 0;
		event->end = reads &&
			     (result == RESULT_END || (site == JVS_VM_IO_OLD_READ && result == 0));
	}
}

/* A try that found nothing, unless the time for it is over. Returns whether it is not the end. */
static __always_inline bool is_to_go_on(struct jvs_io_thread *thread, __u32 site, __s32 result)
{
	struct jvs_io_try *before = &thread->before;

	if (!is_channel(site) || (result != RESULT_NOTHING && result != RESULT_INTERRUPTED) ||
	    before->timed_out)
		return false;
	before->start_ns = thread->event.start_ns;
	before->fd = thread->event.fd;
	before->op = thread->event.op;
	before->polled = result == RESULT_INTERRUPTED;
	return true;
}

/* Whether it is the return of the call that the thread began. */
static __always_inline bool is_end(const struct jvs_vm_call *call, struct jvs_io_thread *thread)
{
	if (!thread || thread->sp != call->sp) {
		/* Of a poll that is of no interest the entry is not remembered. */
		if (call->site != JVS_VM_IO_POLL)
			jvs_vm_count(call->target, JVS_VM_IO, JVS_VM_COUNT_NO_ENTRY, 1);
		return false;
	}
	thread->sp = 0;
	if (thread->epoch == epoch_of(call))
		return true;
	/* It may be of a later call, whose entry was not seen. */
	jvs_vm_count(call->target, JVS_VM_IO, JVS_VM_COUNT_NO_RETURN, 1);
	return false;
}

__attribute__((noinline)) int jvs_vm_io_return(struct jvs_vm_call *call)
{
	const struct jvs_io_control *control;
	struct jvs_io_thread *thread;
	__s32 result;

	if (!call)
		return JVS_VM_NOTHING;
	control = control_of(call);
	thread = thread_of(0);
	if (!control || !is_end(call, thread) || !thread)
		return JVS_VM_NOTHING;
	result = (__s32)call->args[0];
	if (call->site == JVS_VM_IO_POLL) {
		thread->before.timed_out = result == 0;
		return JVS_VM_NOTHING;
	}
	if (is_to_go_on(thread, call->site, result))
		return JVS_VM_NOTHING;
	take_result(thread, call->site, result);
	thread->event.timeout_ms = thread->before.timeout_ms;
	thread->before.start_ns = 0;
	jvs_vm_fill(&thread->event.event, JVS_EVENT_IO, call);
	if (call->time_ns - thread->event.start_ns >= control->threshold_ns)
		describe(&thread->event, thread->file);
	return JVS_VM_STACK;
}

/* ---- with the stack */

static __always_inline void add_short(const struct jvs_io_event *event)
{
	struct jvs_io_key key = { .target = event->event.target,
				  .op = event->op,
				  .stack = event->stack };
	struct jvs_io_sum *sum = bpf_map_lookup_elem(&jvs_io_sums, &key);
	struct jvs_io_sum first = {};

	if (!sum) {
		bpf_map_update_elem(&jvs_io_sums, &key, &first, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&jvs_io_sums, &key);
	}
	if (!sum) {
		jvs_vm_count(key.target, JVS_VM_IO, JVS_VM_COUNT_UNSUMMED, 1);
		return;
	}
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->ns, event->event.time_ns - event->start_ns);
	__sync_fetch_and_add(&sum->bytes, event->bytes);
}

__attribute__((noinline)) int jvs_vm_io_stack(struct jvs_vm_call *call)
{
	struct jvs_io_thread *thread = thread_of(0);
	const struct jvs_io_control *control;

	if (!call || !thread)
		return JVS_VM_NOTHING;
	control = control_of(call);
	if (!control)
		return JVS_VM_NOTHING;
	thread->event.stack = call->stack;
	if (thread->event.event.time_ns - thread->event.start_ns < control->threshold_ns)
		add_short(&thread->event);
	else
		jvs_vm_send(&thread->event, JVS_VM_IO);
	return JVS_VM_NOTHING;
}
