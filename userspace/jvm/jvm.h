/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JVM_H
#define JVMSCOPE_JVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/jvs_abi.h"

struct image;
struct maps;
struct target;

/*
 * A HotSpot JVM inside another process, read through the tables that libjvm.so exports
 * (gHotSpotVMStructs and its siblings). Nothing is written to it and it is never stopped.
 *
 * A struct jvm borrows the target. All names are as the JVM has them: internal form, with
 * slashes, modified UTF-8.
 */
struct jvm;

/*
 * Opens the JVM in the target. libjvm may be the one the caller opened, or NULL: then jvm opens
 * it and closes it again (symbols are only needed here).
 *
 * Returns 0; -ENOENT when no libjvm.so is mapped or it is not HotSpot's (no vmStructs); -EAGAIN
 * when the JVM is still starting and its tables have no values yet: try again in some
 * milliseconds; -EPROTO when a field that unwinding needs is missing (logged once, by name);
 * -ESRCH. Only -EPROTO and -ENOMEM are logged here.
 */
int jvm_open(const struct target *t, const struct maps *maps, struct jvm **out);
void jvm_close(struct jvm *jvm);

/* What the BPF unwinder needs. Stays right for the life of the JVM. */
const struct jvs_java_layout *jvm_layout(const struct jvm *jvm);

/* Where the code heaps are reserved: such addresses are never native code. */
bool jvm_in_code_heap(const struct jvm *jvm, uint64_t addr);

/* Feature release: 8, 11, 17, 21, 25, ... */
int jvm_major(const struct jvm *jvm);

/* "17.0.15+6-Debian-1deb12u1", "25.0.3+9-LTS"; "" when unknown. */
const char *jvm_version(const struct jvm *jvm);

/* "G1", "Parallel", "Serial", "ZGC", "Shenandoah", "Epsilon", "" when unknown. */
const char *jvm_gc_name(const struct jvm *jvm);

/* Main class or jar, and the JVM's own options, from the command line. to is always terminated. */
void jvm_main_class(const struct target *t, char *to, size_t size);
void jvm_arguments(const struct target *t, char *to, size_t size);

/* ---- threads */

struct jvm_thread {
	uint64_t java_thread; /* JavaThread* */
	pid_t ns_tid;	      /* OSThread::_thread_id: as the JVM's own pid namespace sees it */
	uint32_t state; /* JavaThread::_thread_state: 4 native, 6 in VM, 8 in Java, 10 blocked */
};

/* All JavaThreads (also compiler threads). *out is the caller's to free. Returns 0 or -errno. */
int jvm_threads(struct jvm *jvm, struct jvm_thread **out, size_t *count);

/* ---- naming frames */

struct jvm_method {
	uint64_t address;	/* Method* */
	uint64_t const_method;	/* with address the key: changes on redefinition and reuse */
	const char *class_name; /* "java/lang/String", "T$$Lambda+0x00007f01" (hidden) */
	const char *name;
	const char *signature;	 /* "(I)V" */
	const char *source_file; /* NULL: unknown */
	bool native;
	bool hidden; /* class_name has the address of a hidden class in it */
};

enum jvm_frame_type {
	JVM_FRAME_INTERPRETED,
	JVM_FRAME_C1,
	JVM_FRAME_C2,
	JVM_FRAME_INLINED,
	JVM_FRAME_NATIVE, /* a native method: interpreted, or its compiled wrapper */
	JVM_FRAME_STUB,	  /* method is NULL, stub names the blob */
};

struct jvm_frame {
	enum jvm_frame_type type;
	const struct jvm_method *method; /* owned by jvm, valid until jvm_close */
	const char *stub;		 /* "StubRoutines (1)", "vtable chunks"; valid as above */
	int bci;			 /* -1: none */
	int line;			 /* -1: unknown, -2: native method */
	int level;			 /* compilation level 1..4, 0: none */
};

#define JVM_INLINE_MAX 64 /* frames of one physical frame; 21 is the largest seen */

/*
 * Names one physical frame (kinds INTERPRETED, NMETHOD, STUB, ADAPTER): innermost first, so one
 * compiled frame gives several when methods were inlined. leaf says that the pc is where the
 * thread was, not a return address.
 *
 * Everything read is kept by keys that survive reuse of the code cache and unloading of classes,
 * so a frame once named is named again even when its code is gone.
 *
 * Returns how many were written (> 0), -ESTALE when the code or the method is no longer the one
 * the cookie names, -EFAULT, -ESRCH, -EBADMSG (nonsense in the target), -ENOMEM. Never logs.
 */
int jvm_describe(struct jvm *jvm, const struct jvs_frame *frame, bool leaf,
		 struct jvm_frame out[JVM_INLINE_MAX]);

/* Bytes of memory the caches hold. */
size_t jvm_memory(const struct jvm *jvm);

#endif
