/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JVM_H
#define JVMSCOPE_JVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/jvs_abi.h"

struct jvs_class_layout;
struct jvs_object_layout;
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
 * Opens the JVM in the target. The libjvm that is mapped is opened and closed again: symbols are
 * only needed here.
 *
 * Returns 0; -ENOENT when no libjvm.so is mapped or it is not HotSpot's (no vmStructs); -EAGAIN
 * when the JVM is still starting and its tables have no values yet, or odd ones: try again in
 * some milliseconds; -EPROTO when a field that unwinding needs is missing (logged once, by name);
 * -ESRCH, -EACCES, -ENOMEM. Only -EPROTO is logged here.
 */
int jvm_open(const struct target *t, const struct maps *maps, struct jvm **out);
void jvm_close(struct jvm *jvm);

/*
 * What the BPF unwinder needs. Complete enough to unwind with when jvm_open returns, but of a JVM
 * that has just started some members may still be 0: name_nmethod and name_native_nmethod, until
 * code was compiled. See jvm_refresh.
 */
const struct jvs_java_layout *jvm_layout(const struct jvm *jvm);

/*
 * To be called about once a second as long as the JVM is recorded: looks for what the layout lacks
 * (a few ms at most, nothing once it is complete), and lets methods be compared with the target
 * anew. Returns true when jvm_layout changed and must be installed again.
 */
bool jvm_refresh(struct jvm *jvm);

/*
 * Keeps memory bounded: when the methods hold more than 32 MiB, all methods and compiled code
 * are forgotten. Call it where no pointers from jvm_describe are held. Returns whether it did.
 */
bool jvm_trim(struct jvm *jvm);

/* Where the code heaps are reserved: such addresses are never native code. */
bool jvm_in_code_heap(const struct jvm *jvm, uint64_t addr);

/* Feature release: 8, 11, 17, 21, 25, ... */
int jvm_major(const struct jvm *jvm);

/* "17.0.15+6-Debian-1deb12u1", "25.0.3+9-LTS"; "" when unknown. */
const char *jvm_version(const struct jvm *jvm);

/* "G1", "Parallel", "Serial", "ZGC", "Shenandoah", "Epsilon", "CMS", "" when unknown. */
const char *jvm_gc_name(const struct jvm *jvm);

/* How many collections there were since the JVM started. Returns 0, -ENOENT or another errno. */
int jvm_collections(const struct jvm *jvm, uint64_t *count);

/* The flags it runs with: see flags_each() in flags.h. */
struct flag;
int jvm_flags(const struct jvm *jvm, void (*found)(const struct flag *flag, void *ctx), void *ctx);

/* What follows from them: "narrow_oop_base", "narrow_oop_shift", "code_cache_start" and "_end". */
void jvm_facts(const struct jvm *jvm, void (*found)(const char *name, uint64_t value, void *ctx),
	       void *ctx);

#define JVM_ARGUMENTS_MAX 65536 /* the longest command line that is read */

/*
 * Main class or jar, and the JVM's own options: valid UTF-8, "" when nothing says. to is always
 * terminated; options that do not fit end in " [truncated]". jvm may be NULL, then the command
 * line is all there is: see launch.h.
 */
void jvm_main_class(const struct target *t, const struct jvm *jvm, char *to, size_t size);
void jvm_arguments(const struct target *t, const struct jvm *jvm, char *to, size_t size);

/* ---- threads */

struct jvm_thread {
	uint64_t java_thread; /* JavaThread* */
	pid_t ns_tid;	      /* OSThread::_thread_id: as the JVM's own pid namespace sees it */
	uint32_t state;	      /* as jvm_thread_state gives it */
};

/*
 * JavaThread::_thread_state as JDK 8 to 27 number it, of any JDK: 2 new, 4 native, 6 in VM, 8 in
 * Java, 10 blocked; one more (5, 7, 9, 11) while it leaves that state. JDK 28 numbers them 1 to 5.
 */
uint32_t jvm_thread_state(const struct jvm *jvm, uint32_t raw);

/*
 * All JavaThreads (also compiler threads), as far as they stayed while the list was read. *out is
 * the caller's to free. Returns 0, -ENOENT (this JVM shows no list), -EFAULT, -ESRCH, -ENOMEM.
 */
int jvm_threads(struct jvm *jvm, struct jvm_thread **out, size_t *count);

#define JVM_THREAD_NAME_MAX 256

/*
 * java.lang.Thread's name of a thread: valid UTF-8, cut at JVM_THREAD_NAME_MAX - 1 bytes. comm is
 * the kernel's name of it, which says whether a doubtful one is right. Returns 0, or a negative
 * errno when the kernel's name must do. Never logs. See threadname.h.
 */
int jvm_thread_name(struct jvm *jvm, uint64_t java_thread, const char *comm,
		    char to[JVM_THREAD_NAME_MAX]);

/* ---- naming frames */

struct jvm_method {
	uint64_t address;	/* Method* */
	uint64_t const_method;	/* with address the key: changes on redefinition and reuse */
	const char *class_name; /* "java/lang/String", "T$$Lambda+0x00007f01" (hidden) */
	const char *name;
	const char *signature;	 /* "(I)V" */
	const char *source_file; /* NULL: unknown */
	uint32_t number;	 /* of this JVM, from 1; never that of another method */
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
	const struct jvm_method *method; /* owned by jvm, valid until jvm_trim or jvm_close */
	const char *stub; /* "StubRoutines (1)", "vtable chunks"; valid until jvm_close */
	int bci;	  /* -1: none, or method entry */
	int line;	  /* -1: unknown, -2: native method */
	int level;	  /* compilation level 1..4, 0: none */
};

#define JVM_INLINE_MAX 64 /* frames of one physical frame; 21 is the largest seen */

/*
 * The frame, as a leaf, of compiled code that is at pc. Returns 0, -ENOENT (there is none),
 * -EFAULT, -ESRCH.
 */
int jvm_frame_at(const struct jvm *jvm, uint64_t pc, struct jvs_frame *out);

/*
 * Names one physical frame (kinds INTERPRETED, NMETHOD, STUB, ADAPTER): innermost first, so one
 * compiled frame gives several when methods were inlined. leaf says that the pc is where the
 * thread was, not a return address.
 *
 * Everything read is kept by keys that survive reuse of the code cache and unloading of classes,
 * so a frame once named is named again even when its code is gone: an nmethod's debug information
 * and all methods it names are copied when one of its frames is first seen. The copies of
 * nmethods are limited to 16 MiB, the oldest go first.
 *
 * Returns how many were written (> 0), -ESTALE when the code or the method is no longer the one
 * the cookie names, -EINVAL (another kind), -EFAULT, -ESRCH, -EBADMSG (nonsense in the target),
 * -ENOMEM. Never logs.
 */
int jvm_describe(struct jvm *jvm, const struct jvs_frame *frame, bool leaf,
		 struct jvm_frame out[JVM_INLINE_MAX]);

/*
 * Numbers the methods of these INTERPRETED frames: jvm_method.number, 0 of one that cannot be
 * named. A frame alone does not name its method for ever: classes of one shape can get all
 * addresses of unloaded ones. Compared with the target once a second. Never logs.
 */
void jvm_number_methods(struct jvm *jvm, const struct jvs_frame *const *frames, size_t count,
			uint32_t *numbers);

/* Of a Thread: offsets of what it has allocated in the Java heap. 0: not known. */
struct jvm_thread_heap {
	uint32_t allocated;  /* the sum, without its buffer */
	uint32_t tlab_start; /* its buffer, and how far it is used */
	uint32_t tlab_top;
};
struct jvm_thread_heap jvm_thread_heap(const struct jvm *jvm);

/* What is needed to read classes and their loaders: see loader.h. */
int jvm_class_layout(const struct jvm *jvm, struct jvs_class_layout *out);

/* How objects and references to them are kept: see objects.h. */
int jvm_object_layout(const struct jvm *jvm, struct jvs_object_layout *out);

/* Where a CompileTask says what is compiled. -ENOENT: this JVM does not show it. */
struct jvm_task_layout {
	uint32_t method, id, level, osr_bci, inlined;
	uint32_t const_method; /* Method::_constMethod */
	uint32_t succeeded;    /* a boolean */
	uint32_t code_size;    /* since JDK 20; 0: code has it */
	uint32_t code;	       /* pointer to a pointer to the nmethod; 0: not known */
	/* In an nmethod: offsets of its parts, but the address of the data of scopes. */
	uint32_t consts, oops, scopes, dependencies, handlers, end;
};
int jvm_task_layout(const struct jvm *jvm, struct jvm_task_layout *out);

/* Bytes of memory the caches hold. */
size_t jvm_memory(const struct jvm *jvm);

#endif
