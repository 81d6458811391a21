/* SPDX-License-Identifier: Apache-2.0 */
#include "target/ehframe_cfa.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define WORD	       8
#define REMEMBERED_MAX 32 /* 2 is the deepest seen */
#define ROWS_START     4096
#define NO_REGISTER    UINT64_MAX

/* Opcodes that dwarf.h does not know. */
#define CFA_NEGATIVE_OFFSET 0x2f /* DW_CFA_GNU_negative_offset_extended */

#define HIGH_BITS 0xc0
#define LOW_BITS  0x3f

/* DWARF's register numbers of this architecture. */
struct register_numbers {
	uint64_t sp;
	uint64_t fp;
	uint64_t ra;
	uint64_t r13;
	/*
	 * Where the reader of a row takes the return address from: this far from the CFA, or, when
	 * 0, above the saved fp or from its own register when fp is not saved.
	 */
	int64_t ra_offset;
};

#if defined(__x86_64__)
static const struct register_numbers registers = {
	.sp = 7, .fp = 6, .ra = 16, .r13 = 13, .ra_offset = -8
};
#elif defined(__aarch64__)
static const struct register_numbers registers = {
	.sp = 31, .fp = 29, .ra = 30, .r13 = NO_REGISTER, .ra_offset = 0
};
#endif

/* A call frame program while it runs. */
struct machine {
	const struct eh_cie *cie;
	const struct eh_section *section;
	struct cursor c;
	struct eh_rules now;
	struct eh_rules remembered[REMEMBERED_MAX];
	size_t depth;
	uint64_t at;
	uint64_t end; /* of the function; 0 while a CIE's own program runs, which has no address */
	struct eh_rows *rows;
	size_t first_row; /* of this function */
	int err;
};

/* ---- pointers */

static uint64_t pointer_value(struct cursor *c, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)cursor_sleb(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)cursor_u16(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)cursor_u32(c);
	default:
		c->failed = true;
		return 0;
	}
}

uint64_t eh_pointer(const struct eh_section *section, struct cursor *c, uint8_t encoding)
{
	uint64_t field = section->vaddr + (uint64_t)(c->at - section->bytes);
	uint64_t value = pointer_value(c, encoding & 0x0f);

	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + field;
	default:
		c->failed = true;
		return 0;
	}
}

/* ---- rows */

bool eh_same_rule(const struct jvs_row *a, const struct jvs_row *b)
{
	return a->kind == b->kind && a->cfa == b->cfa && a->fp == b->fp;
}

static bool in_words(int64_t offset, int64_t low, int64_t high)
{
	return offset % WORD == 0 && offset / WORD >= low && offset / WORD <= high;
}

static void encode_cfa(const struct eh_rules *rules, struct jvs_row *row)
{
	row->kind = JVS_ROW_BAD;
	switch (rules->cfa) {
	case EH_CFA_PLT:
		row->kind = JVS_ROW_PLT;
		row->cfa = (int16_t)rules->cfa_offset;
		return;
	case EH_CFA_UNSUPPORTED:
		return;
	case EH_CFA_REGISTER:
		break;
	}
	if (!in_words(rules->cfa_offset, 0, INT16_MAX))
		return;
	if (rules->cfa_register == registers.sp)
		row->kind = JVS_ROW_SP;
	else if (rules->cfa_register == registers.fp)
		row->kind = JVS_ROW_FP;
	else
		return;
	row->cfa = (int16_t)(rules->cfa_offset / WORD);
}

static void encode_fp(const struct eh_rules *rules, struct jvs_row *row)
{
	switch (rules->fp.how) {
	case EH_SAME:
	case EH_UNDEFINED:
		return;
	case EH_AT_OFFSET:
		if (rules->fp.offset && in_words(rules->fp.offset, INT8_MIN, INT8_MAX))
			row->fp = (int8_t)(rules->fp.offset / WORD);
		else
			row->kind = JVS_ROW_BAD;
		return;
	case EH_ELSEWHERE:
		row->kind = JVS_ROW_BAD;
		return;
	}
}

static bool ra_is_where_expected(const struct eh_rules *rules)
{
	const struct eh_saved *ra = &rules->ra;

	if (registers.ra_offset)
		return ra->how == EH_AT_OFFSET && ra->offset == registers.ra_offset;
	if (rules->fp.how == EH_AT_OFFSET)
		return ra->how == EH_AT_OFFSET && ra->offset - WORD == rules->fp.offset;
	return ra->how == EH_SAME;
}

static struct jvs_row encode(const struct eh_cie *cie, const struct eh_rules *rules, uint64_t at)
{
	struct jvs_row row = { .address = (uint32_t)at };

	if (cie->signal_frame) {
		row.kind = JVS_ROW_SIGNAL;
		return row;
	}
	if (rules->ra.how == EH_UNDEFINED) {
		row.kind = JVS_ROW_END;
		return row;
	}
	if (!ra_is_where_expected(rules)) {
		row.kind = JVS_ROW_BAD;
		return row;
	}
	encode_cfa(rules, &row);
	encode_fp(rules, &row);
	if (row.kind == JVS_ROW_BAD)
		return (struct jvs_row){ .address = (uint32_t)at, .kind = JVS_ROW_BAD };
	if (rules->r13.how == EH_AT_OFFSET && in_words(rules->r13.offset, -31, -1))
		row.kind |= (uint8_t)(-rules->r13.offset / WORD << 3);
	return row;
}

static int push_row(struct eh_rows *rows, struct jvs_row row)
{
	size_t capacity = rows->capacity ? rows->capacity * 2 : ROWS_START;
	struct jvs_row *items;

	if (rows->count == EH_ROWS_MAX)
		return -E2BIG;
	if (rows->count == rows->capacity) {
		items = reallocarray(rows->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		rows->items = items;
		rows->capacity = capacity;
	}
	rows->items[rows->count++] = row;
	return 0;
}

/* The row from at on, unless it says what the one before says. */
static void emit(struct machine *m)
{
	struct jvs_row row = encode(m->cie, &m->now, m->at);

	if (m->rows->count > m->first_row &&
	    eh_same_rule(&m->rows->items[m->rows->count - 1], &row))
		return;
	m->err = push_row(m->rows, row);
}

/* ---- instructions */

static void give_up(struct machine *m)
{
	m->now.cfa = EH_CFA_UNSUPPORTED;
	m->c.at = m->c.end;
}

static void advance(struct machine *m, uint64_t delta)
{
	uint64_t left = m->end - m->at;

	if (!m->end || m->c.failed) {
		give_up(m);
		return;
	}
	if (delta == 0 || m->cie->code_factor == 0)
		return;
	emit(m);
	if (delta > (left - 1) / m->cie->code_factor) {
		/* What follows is not of this function. */
		m->at = m->end;
		m->c.at = m->c.end;
		return;
	}
	m->at += delta * m->cie->code_factor;
}

static void set_location(struct machine *m)
{
	uint64_t to = eh_pointer(m->section, &m->c, m->cie->pointer_encoding);

	if (!m->end || m->c.failed || to < m->at || to >= m->end) {
		give_up(m);
		return;
	}
	if (to > m->at)
		emit(m);
	m->at = to;
}

static struct eh_saved *saved_in(struct eh_rules *rules, uint64_t number)
{
	if (number == registers.fp)
		return &rules->fp;
	if (number == registers.ra)
		return &rules->ra;
	if (number == registers.r13)
		return &rules->r13;
	return NULL;
}

static void set_saved(struct machine *m, uint64_t number, struct eh_saved saved)
{
	struct eh_saved *to = saved_in(&m->now, number);

	if (to)
		*to = saved;
}

/* Factored offsets may overflow in a damaged file: the product then just wraps. */
static int64_t factored(const struct machine *m, uint64_t value)
{
	return (int64_t)(value * (uint64_t)m->cie->data_factor);
}

static struct eh_saved at_offset(int64_t offset)
{
	return (struct eh_saved){ .how = EH_AT_OFFSET, .offset = offset };
}

static void restore(struct machine *m, uint64_t number)
{
	struct eh_rules initial = m->cie->initial;
	const struct eh_saved *saved = saved_in(&initial, number);

	if (saved)
		set_saved(m, number, *saved);
}

static void define_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	m->now.cfa = EH_CFA_REGISTER;
	m->now.cfa_register = number;
	m->now.cfa_offset = offset;
}

/*
 * The linker's expression for .plt, where the boundary N depends on the kind of entries:
 * sp + 8 + ((pc & 15) >= N) * 8
 */
static void define_cfa_expression(struct machine *m)
{
	static const uint8_t before[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	size_t size = cursor_uleb(&m->c);
	const uint8_t *code = cursor_bytes(&m->c, size);
	uint8_t literal;

	m->now.cfa = EH_CFA_UNSUPPORTED;
	if (!code || size != sizeof(before) + 1 + sizeof(after))
		return;
	literal = code[sizeof(before)];
	if (memcmp(code, before, sizeof(before)) != 0 ||
	    memcmp(code + sizeof(before) + 1, after, sizeof(after)) != 0 || literal < DW_OP_lit0 ||
	    literal > DW_OP_lit15)
		return;
	m->now.cfa = EH_CFA_PLT;
	m->now.cfa_offset = literal - DW_OP_lit0;
}

static void remember(struct machine *m)
{
	if (m->depth == REMEMBERED_MAX)
		give_up(m);
	else
		m->remembered[m->depth++] = m->now;
}

static void recall(struct machine *m)
{
	if (m->depth == 0)
		give_up(m);
	else
		m->now = m->remembered[--m->depth];
}

static bool run_cfa(struct machine *m, uint8_t opcode)
{
	uint64_t number;

	switch (opcode) {
	case DW_CFA_def_cfa:
		number = cursor_uleb(&m->c);
		define_cfa(m, number, (int64_t)cursor_uleb(&m->c));
		return true;
	case DW_CFA_def_cfa_sf:
		number = cursor_uleb(&m->c);
		define_cfa(m, number, factored(m, (uint64_t)cursor_sleb(&m->c)));
		return true;
	case DW_CFA_def_cfa_register:
		define_cfa(m, cursor_uleb(&m->c), m->now.cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		m->now.cfa_offset = (int64_t)cursor_uleb(&m->c);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		m->now.cfa_offset = factored(m, (uint64_t)cursor_sleb(&m->c));
		return true;
	case DW_CFA_def_cfa_expression:
		define_cfa_expression(m);
		return true;
	default:
		return false;
	}
}

static bool run_location(struct machine *m, uint8_t opcode)
{
	switch (opcode) {
	case DW_CFA_set_loc:
		set_location(m);
		return true;
	case DW_CFA_advance_loc1:
		advance(m, cursor_u8(&m->c));
		return true;
	case DW_CFA_advance_loc2:
		advance(m, cursor_u16(&m->c));
		return true;
	case DW_CFA_advance_loc4:
		advance(m, cursor_u32(&m->c));
		return true;
	default:
		return false;
	}
}

static bool run_saved(struct machine *m, uint8_t opcode)
{
	const struct eh_saved elsewhere = { .how = EH_ELSEWHERE };
	uint64_t number;

	switch (opcode) {
	case DW_CFA_offset_extended:
		number = cursor_uleb(&m->c);
		set_saved(m, number, at_offset(factored(m, cursor_uleb(&m->c))));
		return true;
	case DW_CFA_offset_extended_sf:
		number = cursor_uleb(&m->c);
		set_saved(m, number, at_offset(factored(m, (uint64_t)cursor_sleb(&m->c))));
		return true;
	case CFA_NEGATIVE_OFFSET:
		number = cursor_uleb(&m->c);
		set_saved(m, number, at_offset(factored(m, 0 - cursor_uleb(&m->c))));
		return true;
	case DW_CFA_restore_extended:
		restore(m, cursor_uleb(&m->c));
		return true;
	case DW_CFA_undefined:
		set_saved(m, cursor_uleb(&m->c), (struct eh_saved){ .how = EH_UNDEFINED });
		return true;
	case DW_CFA_same_value:
		set_saved(m, cursor_uleb(&m->c), (struct eh_saved){ .how = EH_SAME });
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_saved(m, cursor_uleb(&m->c), elsewhere);
		cursor_uleb(&m->c);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_saved(m, cursor_uleb(&m->c), elsewhere);
		cursor_bytes(&m->c, cursor_uleb(&m->c));
		return true;
	default:
		return false;
	}
}

static void run_extended(struct machine *m, uint8_t opcode)
{
	switch (opcode) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save: /* on arm64: return addresses are signed from here on */
		return;
	case DW_CFA_GNU_args_size:
		cursor_uleb(&m->c);
		return;
	case DW_CFA_remember_state:
		remember(m);
		return;
	case DW_CFA_restore_state:
		recall(m);
		return;
	default:
		if (!run_location(m, opcode) && !run_cfa(m, opcode) && !run_saved(m, opcode))
			give_up(m);
	}
}

static void run(struct machine *m)
{
	uint8_t opcode;

	while (cursor_left(&m->c) && !m->err) {
		opcode = cursor_u8(&m->c);
		switch (opcode & HIGH_BITS) {
		case DW_CFA_advance_loc:
			advance(m, opcode & LOW_BITS);
			break;
		case DW_CFA_offset:
			set_saved(m, opcode & LOW_BITS, at_offset(factored(m, cursor_uleb(&m->c))));
			break;
		case DW_CFA_restore:
			restore(m, opcode & LOW_BITS);
			break;
		default:
			run_extended(m, opcode);
		}
	}
	if (m->c.failed)
		m->now.cfa = EH_CFA_UNSUPPORTED;
}

/* ---- CIE and functions */

/* "zPLR" and the like: what the letters say. */
static bool read_augmentation(const struct eh_section *section, const char *letters,
			      struct cursor c, struct eh_cie *out)
{
	uint8_t encoding;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			out->pointer_encoding = cursor_u8(&c);
			break;
		case 'L':
			cursor_u8(&c);
			break;
		case 'P':
			/* Where the personality routine is does not matter, its length does. */
			encoding = cursor_u8(&c);
			eh_pointer(section, &c, encoding & 0x0f);
			break;
		case 'S':
			out->signal_frame = true;
			break;
		case 'B': /* arm64: signed with the second key */
			break;
		default:
			return false;
		}
	}
	return !c.failed;
}

bool eh_read_cie(const struct eh_section *section, struct cursor *c, struct eh_cie *out)
{
	struct machine m = { .cie = out, .section = section };
	uint8_t version = cursor_u8(c);
	const char *letters = cursor_string(c);
	const uint8_t *data;
	size_t size;

	*out = (struct eh_cie){ 0 };
	if (!letters || (version != 1 && version != 3) || (*letters && *letters != 'z'))
		return false;
	out->code_factor = cursor_uleb(c);
	out->data_factor = cursor_sleb(c);
	if (version == 1)
		cursor_u8(c);
	else
		cursor_uleb(c);
	if (*letters) {
		out->has_augmentation_size = true;
		size = cursor_uleb(c);
		data = cursor_bytes(c, size);
		if (!data || !read_augmentation(section, letters + 1, cursor_of(data, size), out))
			return false;
	}
	m.c = *c;
	if (registers.ra_offset)
		m.now.ra = at_offset(registers.ra_offset);
	run(&m);
	out->initial = m.now;
	return !c->failed;
}

int eh_add_function(const struct eh_function *function, struct eh_rows *rows)
{
	struct machine m = {
		.cie = function->cie,
		.section = function->section,
		.c = function->program,
		.now = function->cie->initial,
		.at = function->start,
		.end = function->end,
		.rows = rows,
		.first_row = rows->count,
	};

	run(&m);
	if (!m.err && m.at < m.end)
		emit(&m);
	if (!m.err)
		m.err = push_row(rows, (struct jvs_row){ .address = (uint32_t)function->end });
	return m.err;
}
