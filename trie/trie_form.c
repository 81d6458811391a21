/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_form.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "trie/trie_name.h"
#include "trie/trie_walk.h"

#define UNITS_LEAST	  3	/* no trie with a rule is shorter */
#define JAVA_STRING_UNITS 10000 /* at most 30,000 of the 65,535 bytes a constant may have */
#define UNITS_A_LINE	  16

/* Bounded reads, big endian; a read past the end gives 0 and sets failed. */
struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static size_t bytes_left(const struct reader *r)
{
	return (size_t)(r->end - r->at);
}

static uint8_t read_u8(struct reader *r)
{
	if (r->at == r->end) {
		r->failed = true;
		return 0;
	}
	return *r->at++;
}

static uint32_t read_u32(struct reader *r)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value = value << 8 | read_u8(r);
	return value;
}

static uint32_t read_more(struct reader *r, uint32_t value)
{
	uint8_t byte = read_u8(r);

	r->failed |= (byte & 0xc0) != 0x80;
	return value << 6 | (byte & 0x3f);
}

static uint16_t read_unit(struct reader *r)
{
	uint8_t first = read_u8(r);

	if (first < 0x80)
		return first;
	if ((first & 0xe0) == 0xc0)
		return (uint16_t)read_more(r, first & 0x1f);
	r->failed |= (first & 0xf0) != 0xe0;
	return (uint16_t)read_more(r, read_more(r, first & 0x0f));
}

__attribute__((format(printf, 3, 4))) static int refuse(trie_report_fn *report, void *ctx,
							const char *fmt, ...)
{
	struct trie_message message = { .error = true };
	va_list args;

	va_start(args, fmt);
	vsnprintf(message.text, sizeof(message.text), fmt, args);
	va_end(args);
	if (report)
		report(&message, ctx);
	return -EINVAL;
}

bool trie_is_binary(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	return size >= 4 && at[0] == 0xdd && at[1] == 0x09 && at[2] == 0x72 && at[3] == 0x13;
}

/* Tables read from a binary form, not yet believed. */
struct raw {
	uint16_t *units;
	uint32_t count;
	uint32_t *long_jumps;
	uint32_t long_count;
};

/* A unit takes at least one byte, a jump four: that bounds what is allocated. */
static int read_raw(struct reader *r, struct raw *raw)
{
	raw->count = read_u32(r);
	if (r->failed || raw->count > bytes_left(r))
		return -EINVAL;
	raw->units = calloc(raw->count + 1, sizeof(*raw->units));
	if (!raw->units)
		return -ENOMEM;
	for (uint32_t i = 0; i < raw->count && !r->failed; i++)
		raw->units[i] = read_unit(r);

	raw->long_count = read_u32(r);
	if (r->failed || raw->long_count != bytes_left(r) / 4 || bytes_left(r) % 4)
		return -EINVAL;
	raw->long_jumps = calloc(raw->long_count + 1, sizeof(*raw->long_jumps));
	if (!raw->long_jumps)
		return -ENOMEM;
	for (uint32_t i = 0; i < raw->long_count; i++)
		raw->long_jumps[i] = read_u32(r);
	return 0;
}

static int adopt(const struct raw *raw, struct trie_words *out, trie_report_fn *report, void *ctx)
{
	struct trie_walk_end end;
	int err = trie_adopt(raw->units, raw->count, raw->long_jumps, raw->long_count, out, &end);

	if (err == -EINVAL)
		return refuse(report, ctx, "unit %u: %s", end.place, end.problem);
	return err;
}

int trie_from_binary(const void *bytes, size_t size, struct trie_words *out, trie_report_fn *report,
		     void *ctx)
{
	struct reader r = { .at = bytes };
	struct trie_rules none = { 0 };
	struct raw raw = { 0 };
	int err;

	if (!trie_is_binary(bytes, size))
		return refuse(report, ctx, "this is not a trie in binary form");
	r.end = r.at + size;
	r.at += 4;
	err = read_raw(&r, &raw);
	if (err == -EINVAL)
		refuse(report, ctx, "cut short or damaged at byte %zu", size - bytes_left(&r));
	else if (!err && raw.count < UNITS_LEAST)
		err = trie_build(&none, out);
	else if (!err)
		err = adopt(&raw, out, report, ctx);
	free(raw.units);
	free(raw.long_jumps);
	return err;
}

int trie_from_bytes(const void *bytes, size_t size, struct trie_words *out, trie_report_fn *report,
		    void *ctx)
{
	if (trie_is_binary(bytes, size))
		return trie_from_binary(bytes, size, out, report, ctx);
	return trie_from_text(bytes, size, out, report, ctx);
}

/* ---- writing */

static int written(FILE *to)
{
	return ferror(to) ? -EIO : 0;
}

static uint32_t long_jump(const struct trie *trie, uint32_t id)
{
	const uint16_t *halves = trie->units + trie->count + 2 * (size_t)id;

	return halves[0] | (uint32_t)halves[1] << 16;
}

static void write_u32(FILE *to, uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		putc((int)(value >> shift & 0xff), to);
}

static void write_unit(FILE *to, uint16_t unit)
{
	uint8_t bytes[3];
	long len = trie_name_from_units(&unit, 1, bytes, sizeof(bytes));

	fwrite(bytes, 1, (size_t)len, to);
}

int trie_write_binary(const struct trie *trie, FILE *to)
{
	write_u32(to, TRIE_MAGIC);
	write_u32(to, trie->count);
	for (uint32_t i = 0; i < trie->count; i++)
		write_unit(to, trie->units[i]);
	write_u32(to, trie->long_count);
	for (uint32_t i = 0; i < trie->long_count; i++)
		write_u32(to, long_jump(trie, i));
	return written(to);
}

int trie_write_c(const struct trie *trie, const char *name, FILE *to)
{
	uint32_t total = trie_total(trie);

	fputs("/* Made from a list of rules: change that. */\n#include \"trie/trie.h\"\n\n", to);
	fprintf(to, "extern const struct trie %s;\n\nstatic const __u16 units[%u] = {", name,
		total);
	for (uint32_t i = 0; i < total; i++)
		fprintf(to, "%s0x%04x,", i % UNITS_A_LINE ? " " : "\n\t", trie->units[i]);
	fprintf(to, "\n};\n\nconst struct trie %s = { units, %u, %u };\n", name, trie->count,
		trie->long_count);
	return written(to);
}

/* Each unit is escaped, so no digit behind an octal escape can join it. */
static void write_java_string(const struct trie *trie, uint32_t from, uint32_t until, FILE *to)
{
	fputs("\t\t\"", to);
	for (uint32_t i = from; i < until; i++) {
		if (i > from && (i - from) % UNITS_A_LINE == 0)
			fputs("\"\n\t\t\t+ \"", to);
		fprintf(to, trie->units[i] <= 0xff ? "\\%03o" : "\\u%04x", trie->units[i]);
	}
	fputs("\",\n", to);
}

int trie_write_java(const struct trie *trie, const char *package, const char *name, FILE *to)
{
	uint32_t until;

	if (package)
		fprintf(to, "package %s;\n\n", package);
	fprintf(to, "/** Made from a list of rules: change that. */\nfinal class %s {\n", name);
	fprintf(to, "\tprivate %s() {\n\t}\n\n\tstatic final String[] UNITS = {\n", name);
	for (uint32_t from = 0; from < trie->count; from = until) {
		until = trie->count - from > JAVA_STRING_UNITS ? from + JAVA_STRING_UNITS
							       : trie->count;
		write_java_string(trie, from, until, to);
	}
	fputs("\t};\n\n\tstatic final int[] LONG_JUMPS = {", to);
	for (uint32_t i = 0; i < trie->long_count; i++)
		fprintf(to, "%s%u,", i % UNITS_A_LINE ? " " : "\n\t\t", long_jump(trie, i));
	fputs(trie->long_count ? "\n\t};\n}\n" : "};\n}\n", to);
	return written(to);
}
