/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_RESOLVE_H
#define JVMSCOPE_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"
#include "base/strbuf.h"
#include "bpf/jvs_abi.h"
#include "model/recording.h"

struct ksyms;
struct process;

/*
 * Raw frames to frames of the recording, remembered.
 *
 * A frame is remembered by everything that identifies it: kind, address, offset, cookie, whether
 * it is a leaf, the process, and the number of an interpreted frame's method. A frame that could
 * not be named is not remembered.
 */
struct resolver {
	struct ksyms *ksyms;  /* owned; NULL until resolve_kernel_names */
	struct map64 unnamed; /* frame id to nothing: kernel frames added before */
	struct map64 known;   /* key of a raw frame to place in runs */
	struct map64 methods; /* key of a method, Java or native, to its id */
	uint32_t *runs;	      /* owned; count, then that many frame ids, innermost first */
	size_t runs_len;
	size_t runs_capacity;
	uint64_t unnamed_java; /* Java frames that could not be named */
	uint64_t unnamed_native;
	struct strbuf normal, raw; /* scratch */
};

/* All frames of one stack, as it was stored: see struct jvs_stack_part. */
struct raw_stack {
	struct jvs_frame *frames; /* owned; [stored] */
	uint32_t stored;
	uint32_t walked;
	uint32_t status; /* enum jvs_status */
};

/*
 * Adds a stack to the recording and returns its id, 0 when memory is out. The part that was left
 * out of a stack over the limit becomes one frame "[truncated]".
 */
uint32_t resolve_stack(struct resolver *r, struct process *p, struct recording *rec,
		       struct raw_stack *stack);

/* What a status (enum jvs_status) makes of a stack. */
enum rec_stack_state resolve_state_of(uint32_t status);

/*
 * Reads the kernel's symbols, if they are wanted, and names the frames that came before. Takes
 * a tenth of a second once, so the caller chooses a moment when nothing else is urgent.
 */
void resolve_kernel_names(struct resolver *r, struct recording *rec);

/* Forgets the frame ids: the next recording has its own. */
void resolve_forget(struct resolver *r);
void resolve_free(struct resolver *r);

#endif
