/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/recording.h"

static const struct rec_metric_info metrics[REC_METRIC_NR] = {
	[REC_CPU] = {
		.name = "cpu",
		.unit = "nanoseconds",
		.help = "time on a CPU, by samples",
	},
	[REC_NATIVE_ALLOC] = {
		.name = "native_alloc",
		.unit = "bytes",
		.help = "native memory allocated, freed since or not",
	},
	[REC_NATIVE_LIVE] = {
		.name = "native_live",
		.unit = "bytes",
		.help = "native memory allocated and not freed",
	},
	[REC_VM_RESERVED] = {
		.name = "vm_reserved",
		.unit = "bytes",
		.help = "address space that the VM has reserved, not released since",
	},
	[REC_VM_COMMITTED] = {
		.name = "vm_committed",
		.unit = "bytes",
		.help = "memory that the VM has committed, not given back since",
	},
	[REC_THREAD_STACKS] = {
		.name = "thread_stacks",
		.unit = "bytes",
		.help = "stacks of threads that run, by who started them",
	},
	[REC_CLASS_LOAD] = {
		.name = "class_load",
		.unit = "classes",
		.help = "classes loaded that no rule ignores, by the stack that defined them",
		.is_partly_sampled = true,
	},
	[REC_LOCK_WAIT] = {
		.name = "lock_wait",
		.unit = "nanoseconds",
		.help = "time waited for monitors that another thread had, by class of the object",
		.is_partly_sampled = true,
	},
	[REC_OBJECT_WAIT] = {
		.name = "object_wait",
		.unit = "nanoseconds",
		.help = "time in Object.wait(), by class of the object",
		.is_partly_sampled = true,
	},
	[REC_PARK] = {
		.name = "park",
		.unit = "nanoseconds",
		.help = "time in LockSupport.park(), by class of the blocker",
		.is_partly_sampled = true,
	},
	[REC_EXCEPTION] = {
		.name = "exception",
		.unit = "exceptions",
		.help = "exceptions made with a stack trace, by class",
		.is_partly_sampled = true,
	},
	[REC_DEOPTIMIZATION] = {
		.name = "deoptimization",
		.unit = "deoptimizations",
		.help = "compiled code that gave up, by reason and what was done",
		.is_partly_sampled = true,
	},
	[REC_OFFCPU] = {
		.name = "offcpu",
		.unit = "nanoseconds",
		.help = "time that threads did not run, by what they waited for",
		.is_partly_sampled = true,
	},
	[REC_WAKEUP] = {
		.name = "wakeup",
		.unit = "nanoseconds",
		.help = "time until threads were woken, by the thread that did",
		.is_partly_sampled = true,
	},
	[REC_HEAP_ALLOC] = {
		.name = "heap_alloc",
		.unit = "bytes",
		.help = "allocated in the Java heap, by class",
	},
	[REC_SOCKET_READ] = {
		.name = "socket_read",
		.unit = "nanoseconds",
		.help = "time in reads of sockets",
	},
	[REC_SOCKET_WRITE] = {
		.name = "socket_write",
		.unit = "nanoseconds",
		.help = "time in writes to sockets",
	},
	[REC_FILE_READ] = {
		.name = "file_read",
		.unit = "nanoseconds",
		.help = "time in reads of files",
	},
	[REC_FILE_WRITE] = {
		.name = "file_write",
		.unit = "nanoseconds",
		.help = "time in writes to files",
	},
	[REC_FILE_FORCE] = {
		.name = "file_force",
		.unit = "nanoseconds",
		.help = "time in FileChannel.force()",
	},
	[REC_SOCKET_READ_BYTES] = {
		.name = "socket_read_bytes",
		.unit = "bytes",
		.help = "read of sockets",
	},
	[REC_SOCKET_WRITE_BYTES] = {
		.name = "socket_write_bytes",
		.unit = "bytes",
		.help = "written to sockets",
	},
	[REC_FILE_READ_BYTES] = {
		.name = "file_read_bytes",
		.unit = "bytes",
		.help = "read of files",
	},
	[REC_FILE_WRITE_BYTES] = {
		.name = "file_write_bytes",
		.unit = "bytes",
		.help = "written to files",
	},
};

int rec_metric_find(const char *name)
{
	for (int metric = 0; metric < REC_METRIC_NR; metric++)
		if (!strcmp(metrics[metric].name, name))
			return metric;
	return -1;
}

const struct rec_metric_info *rec_metric_info(enum rec_metric metric)
{
	return &metrics[metric];
}
