/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_INSN_FLOW_H
#define JVMSCOPE_INSN_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where one probe sees both the arguments of a function and the result of a call that it makes.
 *
 * A probe at the entry and one at the return are two traps, and the return address has to be
 * replaced and looked for. os::malloc calls libc's malloc and then tests what it got, with a jump
 * that the kernel emulates; its own arguments are still in registers there. This finds such jumps
 * by following every path through the function and keeping account of what each register holds.
 *
 * Nothing is guessed: where an instruction is not known, a jump leaves the function on a condition
 * or goes where a register says, or an argument is not in a register that survives calls, there is
 * no answer, and the caller probes entry and return.
 */
struct insn_result {
	uint32_t offset; /* of the instruction, from the function's start: rax has the result */
	uint8_t first;	 /* the register that has the first argument; or 1, where that was 0 */
	uint8_t second;	 /* the low 32 bits of the second */
};

#define INSN_RESULTS_MAX  8
#define INSN_FUNCTION_MAX 2048 /* longer ones are not looked at */

/* Whether the function at this distance from the start of the code is the one that is called. */
typedef bool insn_is_called(void *ctx, int64_t offset);

/*
 * One place behind each such call in a whole function of this machine, in out. Registers are
 * numbered as in x86.h, and are among those that a called function preserves.
 * Returns how many there are; 0 when one of the calls has none, or there is no call.
 */
size_t insn_results(const uint8_t *code, size_t size, insn_is_called *is_called, void *ctx,
		    struct insn_result out[INSN_RESULTS_MAX]);

/* The same for one machine, for tests. */
size_t insn_results_x86(const uint8_t *code, size_t size, insn_is_called *is_called, void *ctx,
			struct insn_result out[INSN_RESULTS_MAX]);

#endif
