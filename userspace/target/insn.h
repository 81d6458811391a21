/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_INSN_H
#define JVMSCOPE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where in a function a uprobe goes.
 *
 * The kernel emulates a few instructions (push of a register, nop, jmp, jcc, call), and a probe on
 * one costs about 0.4 us. It single-steps all others out of line: up to forty times as much. Many
 * a function begins with one of those (os::free with test, je; each function with endbr64 when
 * built for CET), so the probe goes on the first emulated instruction that always runs with the
 * arguments intact and with the return address still at the stack pointer.
 */
struct insn_site {
	uint32_t offset; /* from the function's start */
	bool emulated;	 /* false: there is none, offset is 0 and a hit is dear */
};

#define INSN_BYTES_MAX 64 /* so many bytes of a function are looked at */

/* The site in a function of this machine whose first size bytes are given. */
struct insn_site insn_site(const uint8_t *code, size_t size);

/* Where nothing but the first argument is of use, which leaves more to choose from. */
struct insn_site insn_site_first(const uint8_t *code, size_t size);

/* Where nothing but the first two are. */
struct insn_site insn_site_two(const uint8_t *code, size_t size);

/* The same for one machine, for tests. */
struct insn_site insn_site_x86_first(const uint8_t *code, size_t size);
struct insn_site insn_site_x86_two(const uint8_t *code, size_t size);
struct insn_site insn_site_x86(const uint8_t *code, size_t size);
struct insn_site insn_site_arm64(const uint8_t *code, size_t size);

#endif
