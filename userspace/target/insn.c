/* SPDX-License-Identifier: Apache-2.0 */
#include "target/insn.h"

#include "target/x86.h"

#define STEPS_MAX 8 /* instructions that are passed over at most */

/* ---- x86-64 */

#define BIT(reg) (1u << (reg))

/* rsp must still point to the return address. */
#define FIRST_ARGUMENT (BIT(X86_RDI) | BIT(X86_RSP))
#define TWO_ARGUMENTS  (FIRST_ARGUMENT | BIT(X86_RSI))
#define ARGUMENTS      (TWO_ARGUMENTS | BIT(X86_RDX) | BIT(X86_RCX) | BIT(X86_R8) | BIT(X86_R9))

/* Writes to memory are not passed over: they could be to what an argument points to. */
static struct insn_site find_site(const uint8_t *code, size_t size, uint32_t must_stay)
{
	static const struct insn_site none = { 0, false };
	size_t at = 0;

	if (size > INSN_BYTES_MAX)
		size = INSN_BYTES_MAX;
	for (int step = 0; step < STEPS_MAX && at < size; step++) {
		struct x86_insn insn = x86_decode(code + at, size - at);

		if (insn.emulated)
			return (struct insn_site){ (uint32_t)at, true };
		if (!insn.length || insn.flow != X86_NEXT || insn.stores || insn.writes & must_stay)
			return none;
		at += insn.length;
	}
	return none;
}

struct insn_site insn_site_x86(const uint8_t *code, size_t size)
{
	return find_site(code, size, ARGUMENTS);
}

struct insn_site insn_site_x86_first(const uint8_t *code, size_t size)
{
	return find_site(code, size, FIRST_ARGUMENT);
}

struct insn_site insn_site_x86_two(const uint8_t *code, size_t size)
{
	return find_site(code, size, TWO_ARGUMENTS);
}

/* ---- arm64 */

/* Branches and hints (nop, bti, paciasp): arch/arm64/kernel/probes/decode-insn.c. */
static bool is_simulated(uint32_t insn)
{
	return (insn & 0xfffff01f) == 0xd503201f || (insn & 0x7c000000) == 0x14000000 ||
	       (insn & 0x7e000000) == 0x34000000 || (insn & 0x7e000000) == 0x36000000 ||
	       (insn & 0xff000010) == 0x54000000;
}

struct insn_site insn_site_arm64(const uint8_t *code, size_t size)
{
	uint32_t insn;

	if (size < sizeof(insn))
		return (struct insn_site){ 0, false };
	insn = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
	return (struct insn_site){ 0, is_simulated(insn) };
}

#ifdef __aarch64__
struct insn_site insn_site(const uint8_t *code, size_t size)
{
	return insn_site_arm64(code, size);
}

struct insn_site insn_site_first(const uint8_t *code, size_t size)
{
	return insn_site_arm64(code, size);
}

struct insn_site insn_site_two(const uint8_t *code, size_t size)
{
	return insn_site_arm64(code, size);
}
#else
struct insn_site insn_site(const uint8_t *code, size_t size)
{
	return insn_site_x86(code, size);
}

struct insn_site insn_site_first(const uint8_t *code, size_t size)
{
	return insn_site_x86_first(code, size);
}

struct insn_site insn_site_two(const uint8_t *code, size_t size)
{
	return insn_site_x86_two(code, size);
}
#endif
