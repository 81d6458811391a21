/* SPDX-License-Identifier: Apache-2.0 */
#include "target/insn_flow.h"

#include <stdlib.h>
#include <string.h>

#include "target/x86.h"

/* What a register holds. UNSEEN: no path has come here. */
enum value { UNSEEN, OTHER, FIRST, SECOND, ONE, FIRST_OR_ONE, RESULT };

struct registers {
	uint8_t value[X86_REGISTERS]; /* enum value */
};

struct flow {
	const uint8_t *code;
	size_t size;
	insn_is_called *is_called;
	void *ctx;
	struct registers *at; /* owned; for each byte of the code, before it runs */
	uint16_t *waiting;    /* owned; places to go on from, each at most once */
	uint8_t *is_waiting;  /* owned */
	size_t count;
	bool lost;
};

static bool is_inside(const struct flow *f, int64_t place)
{
	return place >= 0 && place < (int64_t)f->size;
}

static uint8_t meet(uint8_t a, uint8_t b)
{
	if (a == UNSEEN || a == b)
		return b;
	if ((a == FIRST && b == FIRST_OR_ONE) || (a == FIRST_OR_ONE && b == FIRST))
		return FIRST_OR_ONE;
	return OTHER;
}

/* A path comes to a place. One that leaves the code ends. */
static void arrive(struct flow *f, int64_t place, const struct registers *with)
{
	struct registers *at;
	bool changed = false;

	if (!is_inside(f, place))
		return;
	at = &f->at[place];
	for (int i = 0; i < X86_REGISTERS; i++) {
		uint8_t value = meet(at->value[i], with->value[i]);

		changed |= value != at->value[i];
		at->value[i] = value;
	}
	if (changed && !f->is_waiting[place]) {
		f->is_waiting[place] = 1;
		f->waiting[f->count++] = (uint16_t)place;
	}
}

/* ---- what an instruction does */

/* By called functions, says the ABI. */
#define PRESERVED (1u << X86_RBX | 1u << X86_RSP | 1u << X86_RBP | 0xfu << X86_R12)

static uint8_t copied(const struct x86_insn *insn, uint8_t value)
{
	bool narrow = insn->wide || value == SECOND || value == ONE;

	return narrow ? value : OTHER;
}

/* "One if it was zero": a compare of equals chooses between the first argument and one. */
static uint8_t chosen(uint8_t a, uint8_t b)
{
	bool is_first = a == FIRST || a == FIRST_OR_ONE || b == FIRST || b == FIRST_OR_ONE;

	if (a == b)
		return a;
	if (is_first && (a == ONE || b == ONE))
		return FIRST_OR_ONE;
	return meet(a, b);
}

static void spoil(struct registers *r, uint32_t which)
{
	for (int i = 0; i < X86_REGISTERS; i++)
		if (which & 1u << i)
			r->value[i] = OTHER;
}

static void run(const struct x86_insn *insn, struct registers *r)
{
	uint8_t before = r->value[insn->to], from = r->value[insn->from];

	spoil(r, insn->writes);
	if (insn->does == X86_COPIES)
		r->value[insn->to] = copied(insn, from);
	else if (insn->does == X86_COPIES_IF)
		r->value[insn->to] = copied(insn, chosen(before, from));
	else if (insn->does == X86_IS_CONSTANT && insn->constant == 1)
		r->value[insn->to] = ONE;
}

static void run_call(struct flow *f, int64_t target, bool direct, struct registers *r)
{
	spoil(r, ~PRESERVED);
	if (direct && f->is_called(f->ctx, target))
		r->value[X86_RAX] = RESULT;
}

/* One instruction, and on to where it leads. */
static void follow(struct flow *f, int64_t place)
{
	struct x86_insn insn = x86_decode(f->code + place, f->size - (size_t)place);
	struct registers r = f->at[place];
	int64_t target = place + insn.target;
	bool is_call = insn.flow == X86_CALL || insn.flow == X86_CALL_INDIRECT;

	/* What leaves on a condition may be a cold part, which comes back. */
	f->lost |= !insn.length || insn.flow == X86_JUMP_INDIRECT ||
		   (insn.flow == X86_BRANCH && !is_inside(f, target));
	run(&insn, &r);
	if (is_call)
		run_call(f, target, insn.flow == X86_CALL, &r);
	if (insn.flow == X86_BRANCH || insn.flow == X86_JUMP)
		arrive(f, target, &r);
	if (insn.flow == X86_NEXT || insn.flow == X86_BRANCH || is_call)
		arrive(f, place + insn.length, &r);
}

/* Values only ever become less known, so this ends: each place is taken some 40 times at most. */
static void follow_all(struct flow *f)
{
	struct registers start;

	memset(start.value, OTHER, sizeof(start.value));
	start.value[X86_RDI] = FIRST;
	start.value[X86_RSI] = SECOND;
	arrive(f, 0, &start);
	while (f->count && !f->lost) {
		uint16_t place = f->waiting[--f->count];

		f->is_waiting[place] = 0;
		follow(f, place);
	}
}

/* ---- places behind calls */

#define STEPS_MAX 4 /* instructions behind a call that are passed over at most */

static bool find_register(const struct registers *r, uint8_t a, uint8_t b, uint8_t *out)
{
	for (int i = 0; i < X86_REGISTERS; i++) {
		bool is_kept = PRESERVED & 1u << i && i != X86_RSP;

		if (is_kept && (r->value[i] == a || r->value[i] == b)) {
			*out = (uint8_t)i;
			return true;
		}
	}
	return false;
}

/* The first emulated instruction from here on, when all that is wanted is in registers there. */
static bool find_place(const struct flow *f, int64_t place, struct insn_result *out)
{
	for (int step = 0; step < STEPS_MAX && is_inside(f, place); step++) {
		const struct registers *r = &f->at[place];
		struct x86_insn insn = x86_decode(f->code + place, f->size - (size_t)place);

		if (insn.emulated) {
			out->offset = (uint32_t)place;
			return r->value[X86_RAX] == RESULT &&
			       find_register(r, FIRST, FIRST_OR_ONE, &out->first) &&
			       find_register(r, SECOND, SECOND, &out->second);
		}
		if (!insn.length || insn.flow != X86_NEXT)
			return false;
		place += insn.length;
	}
	return false;
}

/* Returns whether there is a call and each has its place. */
static bool collect(const struct flow *f, struct insn_result *out, size_t *count)
{
	for (size_t place = 0; place < f->size; place++) {
		struct x86_insn insn;

		if (f->at[place].value[X86_RSP] == UNSEEN)
			continue;
		insn = x86_decode(f->code + place, f->size - place);
		if (insn.flow != X86_CALL || !f->is_called(f->ctx, (int64_t)place + insn.target))
			continue;
		if (*count == INSN_RESULTS_MAX ||
		    !find_place(f, (int64_t)(place + insn.length), &out[*count]))
			return false;
		(*count)++;
	}
	return *count > 0;
}

size_t insn_results_x86(const uint8_t *code, size_t size, insn_is_called *is_called, void *ctx,
			struct insn_result out[INSN_RESULTS_MAX])
{
	struct flow f = { .code = code, .size = size, .is_called = is_called, .ctx = ctx };
	size_t count = 0;

	if (!size || size > INSN_FUNCTION_MAX)
		return 0;
	f.at = calloc(size, sizeof(*f.at));
	f.waiting = calloc(size, sizeof(*f.waiting));
	f.is_waiting = calloc(size, sizeof(*f.is_waiting));
	if (f.at && f.waiting && f.is_waiting) {
		follow_all(&f);
		if (f.lost || !collect(&f, out, &count))
			count = 0;
	}
	free(f.at);
	free(f.waiting);
	free(f.is_waiting);
	return count;
}

#ifdef __x86_64__
size_t insn_results(const uint8_t *code, size_t size, insn_is_called *is_called, void *ctx,
		    struct insn_result out[INSN_RESULTS_MAX])
{
	return insn_results_x86(code, size, is_called, ctx, out);
}
#else
size_t insn_results(const uint8_t *code, size_t size, insn_is_called *is_called, void *ctx,
		    struct insn_result out[INSN_RESULTS_MAX])
{
	(void)code, (void)size, (void)is_called, (void)ctx, (void)out;
	return 0;
}
#endif
