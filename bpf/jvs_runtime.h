/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_RUNTIME_H
#define JVS_RUNTIME_H

#include "jvs_object.h"
#include "jvs_vm.h"

/*
 * Threads that start and end, compilations, deoptimizations and exceptions: what runtime.bpf.c and
 * userspace agree on.
 */

/* JVS_EVENT_THREAD */
struct jvs_thread_event {
	struct jvs_event event; /* of the parent, where it is told to start */
	__u64 thread;		/* Thread* */
	__u64 stack;		/* of the parent: hash; 0: not taken */
	__u32 site;		/* JVS_VM_THREAD_... */
	__u32 pad;
	char comm[16]; /* the kernel's name of event.tid: at its end, its own */
};
_Static_assert(sizeof(struct jvs_thread_event) == 72, "no holes");

/* JVS_EVENT_COMPILATION. event.time_ns is its end. */
struct jvs_compilation {
	struct jvs_event event;
	__u64 start_ns;
	__u64 method; /* Method* */
	__u64 const_method;
	__u32 compile_id;
	__u32 level;   /* 1 to 4 */
	__u32 osr_bci; /* JVS_NO_BCI: of the whole method */
	__u32 inlined_bytes;
	__u32 code_bytes; /* 0: there is none, or it is not known */
	__u32 succeeded;  /* 0, 1; all else: not known */
};
_Static_assert(sizeof(struct jvs_compilation) == 80, "no holes");

/* JVS_EVENT_TRAP: compiled code gives up; its stack begins with the frame that does. */
struct jvs_trap {
	struct jvs_event event;
	__u64 stack;
	__s32 request; /* as the JVM packs reason and action */
	__u32 pad;
};
_Static_assert(sizeof(struct jvs_trap) == 48, "no holes");

/* JVS_EVENT_EXCEPTION: a Throwable with a stack trace was made. */
struct jvs_exception {
	struct jvs_event event;
	__u64 stack;
	__u64 klass; /* Klass*; 0: not known */
};
_Static_assert(sizeof(struct jvs_exception) == 48, "no holes");

/* Written by userspace for each target; offsets in a CompileTask. */
struct jvs_runtime_control {
	struct jvs_object_layout objects; /* zeroed: not known yet */
	__u32 task_method;
	__u32 task_id;
	__u32 task_level;
	__u32 task_osr_bci;
	__u32 task_inlined;
	__u32 task_succeeded; /* 0: not known */
	__u32 task_code_size; /* 0: the nmethod says it */
	__u32 task_code;      /* the pointer to a pointer to it; 0: not known */
	__u32 method_const;
	/* of an nmethod: where its parts begin, from its start; the data of scopes by its address
	 */
	__u32 nmethod_consts;
	__u32 nmethod_oops;
	__u32 nmethod_scopes;
	__u32 nmethod_dependencies;
	__u32 nmethod_handlers;
	__u32 nmethod_end;
	__u32 ready; /* 0: offsets of tasks are not known */
};
_Static_assert(sizeof(struct jvs_runtime_control) == 112, "no holes");

#endif
