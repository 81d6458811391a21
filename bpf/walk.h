/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_WALK_H
#define JVS_WALK_H

#include "jvs_abi.h"

/*
 * The state of one stack walk.
 *
 * The step code (unwind*.h) is compiled twice: into BPF, where it reads the running task and the
 *maps, and as plain C into the tests, where it reads what the test made up. What a test proves here
 *is proved about the code the kernel runs.
 *
 * JVS_FN functions are global in BPF: the verifier checks each once, alone, with unknown
 * arguments, and so the cost of all of them is a sum and not a product. That is also why each
 * begins with a test for NULL. At most 8 calls may be nested:
 *
 *	program -> jvs_walk_user -> loop callback -> jvs_step -> jvs_step_<kind> -> rule
 *	-> jvs_is_code -> jvs_mapping_find
 */
#ifdef __bpf__
#include <bpf/bpf_helpers.h>
#define JVS_FN __attribute__((noinline))
#define NULL   ((void *)0)
#else
#include <stdbool.h>
#include <stddef.h>
#define JVS_FN		 static __attribute__((noinline, unused))
#define barrier_var(var) asm volatile("" : "+r"(var))
#endif
/* Loads from any address. BPF has no other kind, and would take byte by byte if it were told. */
#ifdef __bpf__
typedef __u16 jvs_any_u16;
typedef __u32 jvs_any_u32;
typedef __u64 jvs_any_u64;
#else
typedef __u16 __attribute__((aligned(1))) jvs_any_u16;
typedef __u32 __attribute__((aligned(1))) jvs_any_u32;
typedef __u64 __attribute__((aligned(1))) jvs_any_u64;
#endif
#define JVS_INLINE static inline __attribute__((always_inline))

/* What the registers of a walk describe. */
enum jvs_at {
	JVS_AT_RETURN, /* a caller: pc is a return address */
	JVS_AT_LEAF,   /* where the thread was: any instruction */
	JVS_AT_SIGNAL, /* as JVS_AT_LEAF, one step after a signal frame: sp may go anywhere */
};

#define JVS_CODE_MAX	    256	 /* code bytes looked at in one step */
#define JVS_HEADER_MASK	    511	 /* bounds an offset into the copy of a blob's header */
#define JVS_BLOCK_HEAD	    64	 /* bytes that hold a block's used flag and a blob's code begin */
#define JVS_NOT_THIS	    (-1) /* a rule does not apply: try the next */
#define JVS_LOWEST_ADDRESS  0x1000
#define JVS_STUB_FRAME_MAX  0x2000  /* bytes; stubs save little */
#define JVS_FRAME_MAX	    0x10000 /* bytes an interpreted frame may have below fp */
#define JVS_NATIVE_FP_MAX   0x100000
#define JVS_INTERPRETER_LOW 9  /* words of the fixed part of an interpreted frame below fp */
#define JVS_METHODS	    16 /* of one walk remembered: see jvs_place16() */
#define JVS_CALLS	    16
#define JVS_WINDOW_WORDS    128 /* of the stack read at once below Java frames */
#define JVS_NOTES	    128 /* words of the stack: see unwind_notes.h */
#define JVS_NOTES_END	    (JVS_NOTES + 1)
#define JVS_NOTED_BYTES	    16384 /* how far from the stack's top */
#define JVS_IDENTITIES	    48
#define JVS_NO_MEMO	    (~0u)

/* A Method and its ConstMethod, as a walk has seen them: valid in that walk. */
struct jvs_method {
	__u64 walk; /* its time_ns */
	__u64 method;
	__u64 const_method;
};

/* A return address in an nmethod, as a walk has seen it: valid in that walk. */
struct jvs_call {
	__u64 walk; /* its time_ns */
	__u64 pc;
	__u64 blob;
	__u32 offset; /* the frame's, as in struct jvs_frame */
	__u32 cookie;
	__u64 size; /* bytes of the frame */
};

/*
 * One walk. It lives in a scratch slot, because it is far larger than the BPF stack.
 * A slot belongs to one program run at a time: see busy.
 */
struct jvs_walk {
	__u32 busy; /* taken by compare-and-exchange */
	__u32 slot; /* own index in jvs_slots */

	/* Whose stack. */
	__u32 target;
	__u32 flags; /* JVS_TARGET_*, read once */
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 in_kernel; /* the sample hit the kernel */
	__u32 source;	 /* enum jvs_slot */
	__u32 pad;
	__u64 time_ns;
	__u64 mappings; /* as in struct jvs_target, read once */
	__u64 returns;	/* the kernel's struct return_instance that is next; 0: none */

	/* Registers of the frame that is next. */
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 lr; /* arm64 */
	__u64 ax;
	__u64 bx;
	__u64 dx;
	__u64 di;
	__u64 r11;
	__u64 r13;
	__u64 r15;
	__u32 at;	    /* enum jvs_at */
	__u32 after_native; /* the frame above was native or a stub: more may lie on this one */
	__u64 start_pc;
	__u64 start_sp;

	/* The frame that is being unwound; pushed when its step returns. */
	struct jvs_frame frame;
	__u32 how; /* enum jvs_frame_how */

	/* What was found. */
	__u32 status; /* enum jvs_status */
	__u32 walked;
	__u32 java_frames;
	__u32 anchored;
	__u64 last_java_sp; /* sp below the last Java frame: an anchor must lie further down the
			       stack */
	__u64 wrapper; /* JavaCallWrapper of the last call stub, while only native frames followed
			*/
	__u32 heap_frames;
	__u32 heap_frames_here; /* right below the frame that is next */
	__u32 deoptimizing;
	__u32 nameless; /* frames that are only being made */
	__u32 unmapped;
	__u32 walk_ns;
	__u32 max_depth;
	__u32 first_part; /* own part of jvs_parts */
	__u64 hash;
	__u64 fail_pc;
	__u64 fail_sp;
	__u64 fail_fp;

	/* Scratch of one step. */
	__u64 blob;
	__u32 blob_at; /* in header, behind its HeapBlock */
	__u32 pad2;
	__u64 const_method;
	struct jvs_method methods[JVS_METHODS];
	struct jvs_call calls[JVS_CALLS];
	__u64 word[16];
	__u8 code[JVS_CODE_MAX + 8];
	__u8 header[JVS_HEADER_MASK + 1 + 8];
	__u8 block[JVS_BLOCK_HEAD + 8];
	__u8 segments[16];
	__u64 window_at; /* address of the stack memory in window */
	__u64 window[JVS_WINDOW_WORDS];

	/* What the stack depends on. */
	__u64 start_fp;
	__u64 start_lr;
	__u32 notes;	   /* JVS_NOTES_END: on more than is noted */
	__u32 noted_bytes; /* from start_sp */
	__u32 identities;
	__u32 generation;	   /* as in struct jvs_target, read once */
	__u32 memo;		   /* index, or JVS_NO_MEMO */
	__u16 noted_at[JVS_NOTES]; /* words from start_sp */
	__u64 noted[JVS_NOTES];
	__u64 identity_at[JVS_IDENTITIES];
	__u64 identity[JVS_IDENTITIES];
	__u64 stack[JVS_NOTED_BYTES / 8];

	__u64 kernel[JVS_KERNEL_DEPTH];
};

#endif
