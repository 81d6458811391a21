/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_ABI_H
#define JVS_ABI_H

/*
 * Everything the BPF programs and userspace agree on: record layouts, limits, counters, the
 * target's layout, unwind rows. Nothing here is written down a second time anywhere else.
 *
 * Addresses are virtual addresses of the target process unless a comment says otherwise.
 */

#ifdef __bpf__
#include "vmlinux.h"
#else
#include <linux/types.h>
#endif

#define JVS_MAX_TARGETS	   64 /* JVMs recorded at once; sized again at load */
#define JVS_MAX_HEAPS	   4  /* code heaps of one JVM; 3 is the most HotSpot makes (segmented) */
#define JVS_PART_FRAMES	   64 /* frames in one stack record; a longer stack is sent in parts */
#define JVS_ROOT_FRAMES	   32 /* outermost frames kept of a stack over the limit; power of two */
#define JVS_WALK_LIMIT	   16384    /* frames walked at most, kept or not */
#define JVS_WALK_BUDGET_NS 10000000 /* a walk longer than that is cut; 1,000 frames take 40 us */
#define JVS_DEPTH_MAX	   16384    /* largest --max-depth */
#define JVS_KERNEL_DEPTH   127	    /* the kernel's own default (perf_event_max_stack) */
/* Parts of the longest stack that is stored: kernel frames come on top of --max-depth. */
#define JVS_PARTS_OF(max_depth) \
	(((max_depth) + JVS_KERNEL_DEPTH + JVS_PART_FRAMES - 1) / JVS_PART_FRAMES)
#define JVS_NO_BCI 0xffffffffu

/* ---- frames */

/* What a frame is, and so what its three other members hold. */
enum jvs_frame_kind {
	JVS_FRAME_NONE,
	JVS_FRAME_NATIVE,      /* address: pc. offset: 0. cookie: id of the mapping */
	JVS_FRAME_UNMAPPED,    /* address: pc, in no known mapping */
	JVS_FRAME_INTERPRETED, /* address: Method*. offset: bci or JVS_NO_BCI. cookie: ConstMethod*
				  >> 3 */
	JVS_FRAME_NMETHOD,     /* address: CodeBlob*. offset: pc - code begin. cookie: compile id */
	JVS_FRAME_STUB, /* address: CodeBlob*, or pc in the interpreter. offset: pc - code begin */
	JVS_FRAME_CALL_STUB,   /* address: pc. The VM calls into Java here */
	JVS_FRAME_ADAPTER,     /* address: CodeBlob*. i2c or c2i */
	JVS_FRAME_HEAP_FRAMES, /* frames of a virtual thread that are in the Java heap, not on the
				  stack */
	JVS_FRAME_ANCHOR, /* address: pc. Native frames are missing above: JavaThread::_anchor was
			     used */
	JVS_FRAME_KERNEL, /* address: pc in the kernel, low 48 bits (the upper ones are all set) */
	JVS_FRAME_KIND_NR,
};

/* How the caller was found. Kept with every frame: it made every failed stack explainable. */
enum jvs_frame_how {
	JVS_HOW_NORMAL,
	JVS_HOW_RA,	     /* return address at [sp] */
	JVS_HOW_FP_RA,	     /* saved fp at [sp], return address above it */
	JVS_HOW_RAX,	     /* return address in rax */
	JVS_HOW_NO_FRAME,    /* frame size 0 */
	JVS_HOW_SCAN,	     /* found by looking a few words up */
	JVS_HOW_DEOPT,	     /* return address was a deoptimization handler: original pc used */
	JVS_HOW_FP,	     /* by frame pointer, which is exact here */
	JVS_HOW_FP_FALLBACK, /* by frame pointer, no unwind row */
	JVS_HOW_EPILOGUE,    /* interpreter frame being torn down */
	JVS_HOW_ENTRY_PART,  /* interpreter frame being built */
	JVS_HOW_ENTRY,	     /* interpreter frame not yet begun */
	JVS_HOW_ENTRY_FP,
	JVS_HOW_ENTRY_RAX,
	JVS_HOW_R13,	/* adapter: caller's sp in r13 */
	JVS_HOW_EXTRA,	/* words pushed on top of the frame were skipped */
	JVS_HOW_SIGNAL, /* signal trampoline: registers restored from the context */
	JVS_HOW_NR,
};
#define JVS_HOW_LEAF 0x80 /* or-ed: pc is where the thread was, not a return address */

#define JVS_ADDRESS_BITS 48
#define JVS_ADDRESS_MASK ((1ull << JVS_ADDRESS_BITS) - 1)

struct jvs_frame {
	__u64 word; /* bits 0..47 address, 48..55 how, 56..63 kind */
	__u32 offset;
	__u32 cookie; /* changes when the code at this address is replaced */
};
_Static_assert(sizeof(struct jvs_frame) == 16, "no holes");

static inline __attribute__((always_inline)) __u64 jvs_frame_word(__u64 address, __u32 kind,
								  __u32 how)
{
	return (address & JVS_ADDRESS_MASK) | (__u64)how << 48 | (__u64)kind << 56;
}

/*
 * Why a walk ended. X(NAME, "name in outputs", class): class C complete, T truncated, B broken,
 * L no stack at all. The names are those of "broken_by" and "truncated_by" in JSON.
 */
#define JVS_STATUS_LIST(X)                                                                       \
	X(RUN, "unfinished", B)                                                                  \
	X(END, "complete", C)	       /* a return address that is undefined: thread start */    \
	X(DEPTH, "max_depth", T)       /* longer than --max-depth; the root was still reached */ \
	X(WALK_LIMIT, "walk_limit", T) /* longer than JVS_WALK_LIMIT */                          \
	X(CONTINUATION, "continuation",                                                          \
	  T)			      /* root reached, frames of a virtual thread in the heap */ \
	X(DEOPT, "deoptimization", T) /* inside DeoptimizationBlob: the stack is rebuilt */      \
	X(EXITING, "exiting", T)      /* a dead thread's: kernel frames only */                  \
	X(NO_REGISTERS, "no_registers", B)                                                       \
	X(NOT_64BIT, "not_64_bit", B)                                                            \
	X(NO_PROGRESS, "no_progress", B)                                                         \
	X(SP_DOWN, "sp_down", B)                                                                 \
	X(PC_ZERO, "pc_zero", B)                                                                 \
	X(NO_MAPPING, "no_mapping", B)                                                           \
	X(NO_ROW, "no_unwind_row", B)                                                            \
	X(BAD_ROW, "unsupported_unwind_row", B)                                                  \
	X(READ_STACK, "read_stack", B)                                                           \
	X(SIGNAL_READ, "read_signal_frame", B)                                                   \
	X(NO_BLOB, "no_code_blob", B)                                                            \
	X(READ_BLOB, "read_code_blob", B)                                                        \
	X(NMETHOD_READ, "read_nmethod_frame", B)                                                 \
	X(NMETHOD_RA, "nmethod_return_address", B)                                               \
	X(NMETHOD_LEAF, "nmethod_leaf", B)                                                       \
	X(INTERPRETER_FP, "interpreter_fp", B)                                                   \
	X(INTERPRETER_READ, "read_interpreter_frame", B)                                         \
	X(INTERPRETER_METHOD, "interpreter_method", B)                                           \
	X(INTERPRETER_ENTRY, "interpreter_entry", B)                                             \
	X(INTERPRETER_LEAF, "interpreter_leaf", B)                                               \
	X(ADAPTER, "adapter", B)                                                                 \
	X(VTABLE_STUB, "vtable_stub", B)                                                         \
	X(STUB, "stub", B)                                                                       \
	X(STUB_READ, "read_stub_frame", B)                                                       \
	X(FRAMED_READ, "read_runtime_stub", B)                                                   \
	X(FRAMED_RA, "runtime_stub_return_address", B)                                           \
	X(INTERNAL, "internal", B)

enum jvs_status {
#define X(name, text, class) JVS_STATUS_##name,
	JVS_STATUS_LIST(X)
#undef X
		JVS_STATUS_NR,
};

/* ---- counters, per target: index target * JVS_COUNT_NR + counter of a per-CPU array */

/*
 * X(NAME, "name in outputs", loss). A loss of 1 means one event that was seen was not kept.
 * seen == kept + the sum of all losses.
 */
#define JVS_COUNTER_LIST(X)                                                                      \
	X(SEEN, "seen", 0)			 /* interrupts that hit the target */            \
	X(RING_FULL, "ring_full", 1)		 /* a sample record did not fit */               \
	X(RING_BUSY, "ring_busy", 1)		 /* an NMI met the ring's lock */                \
	X(SLOT_BUSY, "slot_busy", 1)		 /* all scratch slots of this CPU were in use */ \
	X(STACK_RING_FULL, "stack_ring_full", 1) /* a new stack's frames did not fit */          \
	X(IN_KERNEL, "in_kernel", 0)		 /* the sample hit the kernel */                 \
	X(BREAKPOINT, "in_breakpoint", 0) /* between a probe's breakpoint and its handler */     \
	X(ANCHORED, "anchored", 0)	  /* went on at JavaThread::_anchor */                   \
	X(UNMAPPED, "unmapped_pc", 0)	  /* a pc in no known mapping */                         \
	X(STACKS_SENT, "stacks_sent", 0)                                                         \
	X(WALK_NS, "walk_ns", 0) /* sum of the walk times */                                     \
	/* test: stacks that were recalled, and what walking them said */                        \
	X(RECALLED_SAME, "recalled_same", 0)                                                     \
	X(RECALLED_OTHER, "recalled_other", 0)

enum jvs_counter {
#define X(name, text, loss) JVS_COUNT_##name,
	JVS_COUNTER_LIST(X)
#undef X
		JVS_COUNT_NR,
};

/* ---- unwind tables of native code, made by target/ehframe.c, installed by live/install.c */

enum jvs_row_kind {
	JVS_ROW_GAP,	/* no function here: frame pointer fallback */
	JVS_ROW_SP,	/* CFA = sp + cfa words */
	JVS_ROW_FP,	/* CFA = fp + cfa words */
	JVS_ROW_PLT,	/* CFA = sp + 8 + ((pc & 15) >= cfa) * 8 */
	JVS_ROW_END,	/* return address undefined: the thread's first function */
	JVS_ROW_SIGNAL, /* rt_sigreturn trampoline */
	JVS_ROW_BAD,	/* a rule that is not supported: frame pointer fallback */
	JVS_ROW_CFA_EXPRESSION_RESERVED,
};

/*
 * Valid from address up to the next row's. The return address is at CFA - 8 (x86-64), or one word
 * above the saved fp, or still in x30 when fp is not saved (arm64).
 */
struct jvs_row {
	__u32 address; /* ELF virtual address */
	__s16 cfa;     /* words; see kind */
	__s8 fp;       /* where the caller's fp is saved, words from the CFA; 0: unchanged */
	__u8 kind; /* bits 0..2 enum jvs_row_kind; 3..7 words below the CFA where r13 is saved, 0:
		      unchanged */
};
_Static_assert(sizeof(struct jvs_row) == 8, "no holes");

/* One executable mapping. A target's are sorted by start and do not overlap. */
struct jvs_mapping {
	__u64 start;
	__u64 end;
	__u64 bias;	   /* ELF virtual address = pc - bias */
	__u32 row_first;   /* index into the rows of all images */
	__u32 row_count;   /* 0: none, use the frame pointer */
	__u32 index_first; /* into the step index: entry k is the row (counted as row_first is) at
			      or below address k << 8 */
	__u32 index_count;
	__u32 id; /* differs for every mapping ever installed: the cookie of its frames */
	__u32 pad;
};
_Static_assert(sizeof(struct jvs_mapping) == 48, "no holes");
#define JVS_INDEX_SHIFT 8

/* ---- what BPF must know of a HotSpot JVM, made by jvm/layout.c */

enum jvs_blob_kind {
	JVS_BLOB_OTHER, /* by frame size: framed when > 0, else one stub */
	JVS_BLOB_NMETHOD,
	JVS_BLOB_NATIVE, /* native nmethod: JNI wrapper or method-handle intrinsic */
	JVS_BLOB_INTERPRETER,
	JVS_BLOB_ADAPTER,
	JVS_BLOB_VTABLE,
	JVS_BLOB_STUB_ROUTINES,
	JVS_BLOB_FRAMED,
	JVS_BLOB_DEOPT,
};

struct jvs_code_heap {
	__u64 low; /* reserved range: never changes */
	__u64 high;
	__u64 segmap; /* one byte per segment */
};

/* A byte range of the target, half open; both 0 when absent. */
struct jvs_range {
	__u64 low;
	__u64 high;
};

/* Offsets are bytes from the start of the structure named. */
struct jvs_java_layout {
	__u32 heap_count;
	__u32 segment_shift;			   /* CodeHeap::_log2_segment_size */
	struct jvs_code_heap heaps[JVS_MAX_HEAPS]; /* unused ones: low = high = ~0 */
	struct jvs_range interpreter;		   /* code of the blob "Interpreter" */
	struct jvs_range method_entries;	   /* its codelets "method entry point ..." */
	struct jvs_range continuation_stubs;
	__u64 call_stub_return; /* StubRoutines::_call_stub_return_address */
	__u64 name_nmethod;	/* address of the string "nmethod" */
	__u64 name_native_nmethod;
	__u64 cont_return_pc; /* ContinuationEntry::_return_pc; 0: no virtual threads */

	__u32 heap_block_size; /* sizeof(HeapBlock): the blob starts after it */
	__u32 heap_block_used;
	__u32 blob_name;
	__u32 blob_frame_size; /* words, int */
	__u32 blob_frame_complete;
	__u32 frame_complete_is_16bit;
	__u32 blob_code_begin;
	__u32 blob_code_end;
	__u32 code_is_offset; /* 1: the two above are ints from the blob, 0: pointers */
	__u32 blob_kind;      /* CodeBlob::_kind, u8; JVS_NO_FIELD: by name */

	__u32 nmethod_deopt;
	__u32 nmethod_deopt_mh; /* JVS_NO_FIELD on 26+ */
	__u32 deopt_is_offset;	/* 1: ints from the blob, 0: pointers */
	__u32 nmethod_compile_id;
	__u32 nmethod_orig_pc;
	__u32 nmethod_verified_entry;
	__u32 verified_entry_is_offset; /* 1: u16 from code begin, 0: pointer */

	__u32 method_const_method;
	__u32 const_method_constants;
	__u32 pool_holder;
	__u32 klass_constants; /* InstanceKlass::_constants */
	__u32 klass_name;
	__u32 const_method_size;      /* sizeof(ConstMethod): bytecode starts there */
	__u32 const_method_code_size; /* u16 */
	__s32 interpreter_bcp;	      /* words from fp */

	__u32 thread_anchor_sp; /* JavaThread: _anchor + _last_Java_sp, _pc, _fp */
	__u32 thread_anchor_pc;
	__u32 thread_anchor_fp;
	__u32 thread_state; /* JavaThread::_thread_state, int */
	__s32 call_wrapper; /* words from the call stub's fp to its JavaCallWrapper*; 0: unknown */
	__u32 wrapper_anchor_sp; /* JavaCallWrapper: _anchor + _last_Java_sp: older Java frames */

	/* The frame where a carrier entered the virtual thread that is mounted; 0: no such JDK. */
	__u32 thread_cont_entry; /* JavaThread::_cont_entry */
	__u32 cont_entry_size;	 /* sizeof(ContinuationEntry): the frame's saved fp is behind it */
	__u32 thread_saved_pc;	 /* JavaThread::_saved_exception_pc: where a safepoint poll was hit;
				    0 when not exported */

	__u8 kind_of[16]; /* CodeBlobKind -> enum jvs_blob_kind */
};
_Static_assert(sizeof(struct jvs_java_layout) == 336, "no holes: layouts are compared by bytes");
#define JVS_NO_FIELD 0xffffu
/* All CodeBlob and nmethod offsets above must lie below this, so that one read gets them. */
#define JVS_BLOB_HEADER_MAX 336

/* ---- targets */

#define JVS_TARGET_ON		1u  /* sample it */
#define JVS_TARGET_JAVA		2u  /* the layout is valid */
#define JVS_TARGET_ANCHOR	4u  /* go on at JavaThread::_anchor when native unwinding fails */
#define JVS_TARGET_BREAK_NATIVE 8u  /* test: native unwinding above Java always fails */
#define JVS_TARGET_WALK_AGAIN	16u /* test: stacks that are recalled are walked, too */

/* Written by userspace through a shared mapping; every member is one aligned store. */
struct jvs_target {
	__u32 pid; /* in the initial pid namespace */
	__u32 flags;
	__u64 mappings; /* first | count << 32; replaced in one store, the old range stays valid for
			   a while */
	__u32 arm;	/* test: 1 stop the thread at its next user mode sample, 2 stopped: take no
			   samples */
	__u32 generation; /* another after each change of mappings or java */
	struct jvs_java_layout java;
};

/* ---- which stacks userspace has */

/*
 * A table of hashes, in sets of two: hash h is at h & (JVS_SEEN_STACKS - 2) or behind it, newest
 * first. 0: free. A stack whose hash was pushed out is sent again. No locks, so that a sample may
 * interrupt another program here; userspace writes 0 to have a stack sent again.
 */
#define JVS_SEEN_STACKS 65536

/* ---- records in the ring buffer */

enum jvs_event_kind {
	JVS_EVENT_CPU_SAMPLE = 1,
	JVS_EVENT_STACK_PART = 2,
	/* jvs_class.h */
	JVS_EVENT_CLASS_LOAD = 32,
	JVS_EVENT_CLASS_UNLOAD = 33,
	JVS_EVENT_CLASS_REDEFINED = 34,
	JVS_EVENT_CLASS_INIT = 35,
	JVS_EVENT_CLASS_LOADER = 36,
	JVS_EVENT_CLASS_LOADER_END = 37,
	JVS_EVENT_CLASS_BYTES = 38,
	JVS_EVENT_CLASS_PHASE = 39,
	JVS_EVENT_CLASS_LINK = 40,
	JVS_EVENT_MAPPING = 48, /* jvs_mapping.h */
	/* jvs_vm.h */
	JVS_EVENT_GC_START = 56,
	JVS_EVENT_GC_HEAP = 57,
	JVS_EVENT_GC_METASPACE = 58,
	JVS_EVENT_GC_PHASE = 59,
	JVS_EVENT_GC_END = 60,
	JVS_EVENT_SAFEPOINT = 64,
	JVS_EVENT_VM_OPERATION = 65,
	JVS_EVENT_STRAGGLER = 66,
	JVS_EVENT_LOCK = 72, /* jvs_lock.h */
	/* jvs_runtime.h */
	JVS_EVENT_THREAD = 73,
	JVS_EVENT_COMPILATION = 74,
	JVS_EVENT_TRAP = 75,
	JVS_EVENT_EXCEPTION = 76,
	JVS_EVENT_IO = 77,     /* jvs_io.h */
	JVS_EVENT_OFFCPU = 80, /* jvs_offcpu.h */
	/* jvs_heap.h */
	JVS_EVENT_HEAP_CLASS = 88,
	JVS_EVENT_HEAP_ALLOCATION = 89,
};

/* First member of every record. */
struct jvs_event {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 kind;    /* enum jvs_event_kind */
	__u32 cpu;
	__u32 pid;
	__u32 tid;
	__u32 target; /* index into the targets */
	__u32 pad;
};
_Static_assert(sizeof(struct jvs_event) == 32, "no holes");

#define JVS_THREAD_STATE_IN_VM	 6u    /* _thread_in_vm */
#define JVS_THREAD_STATE_IN_JAVA 8u    /* _thread_in_Java */
#define JVS_THREAD_STATE_UNKNOWN 0xffu /* not a Java thread, or not known yet */

/* The stack's parts, when it is new, precede the first sample that names it. */
struct jvs_cpu_sample {
	struct jvs_event event;
	__u64 stack;  /* hash of all frames */
	__u32 status; /* enum jvs_status */
	__u32 walked; /* frames, kept or not */
	__u32 walk_ns;
	__u8 thread_state; /* JavaThread::_thread_state */
	__u8 in_kernel;	   /* the sample hit the kernel */
	__u8 anchored;
	__u8 source; /* enum jvs_slot */
	__u32 pad[2];
};
_Static_assert(sizeof(struct jvs_cpu_sample) == 32 + 32, "no holes");

/*
 * A stack is sent once, in parts of JVS_PART_FRAMES; the last part is shorter and says so.
 *
 * Frames are leaf first: kernel, then user. Of a stack longer than M, which is --max-depth and its
 * kernel frames, frames 0 .. M - JVS_ROOT_FRAMES - 1 are stored in order and the remaining places
 * are a circle that holds the JVS_ROOT_FRAMES outermost: frame n is at M - JVS_ROOT_FRAMES + (n -
 * M) mod JVS_ROOT_FRAMES. So a reader rotates the circle and marks the gap before it.
 */
struct jvs_stack_part {
	struct jvs_event event;
	__u64 stack;   /* hash */
	__u64 capture; /* the same in all parts of one stack, differs from stack to stack */
	__u32 first;   /* index of frames[0] in the stored stack */
	__u32 count;   /* frames in this part */
	__u32 stored;  /* frames in all parts */
	__u32 walked;  /* frames of the real stack */
	__u32 status;
	__u32 pad;
	__u64 start_pc; /* the thread's user registers at the capture that sent this */
	__u64 start_sp;
	__u64 fail_pc; /* registers at the frame that could not be unwound; 0 when complete */
	__u64 fail_sp;
	__u64 fail_fp;
	struct jvs_frame frames[JVS_PART_FRAMES];
};
_Static_assert(sizeof(struct jvs_stack_part) == 32 + 40 + 40 + 16 * JVS_PART_FRAMES, "no holes");
#define JVS_STACK_PART_HEADER \
	(sizeof(struct jvs_stack_part) - sizeof(struct jvs_frame) * JVS_PART_FRAMES)

/* ---- scratch slots: one kind per program that may interrupt another */

/*
 * The value is the kind's first slot of a CPU. A probe program is preemptible under preempt=full,
 * so it has a pool; the two others cannot be interrupted by their own kind.
 */
enum jvs_slot {
	JVS_SLOT_SAMPLE = 0, /* perf_event */
	JVS_SLOT_SWITCH = 1, /* sched_switch */
	JVS_SLOT_PROBE = 2,  /* uprobe, USDT: this and the three after it */
};
#define JVS_PROBE_SLOTS	  4
#define JVS_SLOTS_PER_CPU (JVS_SLOT_PROBE + JVS_PROBE_SLOTS) /* when all kinds are loaded */

#endif
