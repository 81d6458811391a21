/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_fill_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jfr/jfr_fill_impl.h"
#include "model/settings.h"

/* The part of jfr_fill.c for what JVMs run with. */

static uint32_t add_text(struct jfr_filler *f, const char *text)
{
	return *text ? rec_string(f->rec, text, strlen(text)) : 0;
}

/* ---- ours */

enum { SETTING_PID, SETTING_KIND, SETTING_NAME, SETTING_TYPE, SETTING_VALUE, SETTING_ORIGIN };

static int find(struct jfr_filler *f, const struct jfr_item *e, unsigned int field,
		int (*find_name)(const char *name))
{
	return jfr_text(e, field, &f->text) ? find_name(strbuf_text(&f->text)) : -1;
}

void jfr_fill_setting(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int kind = find(f, e, SETTING_KIND, rec_setting_kind_find);
	int type = find(f, e, SETTING_TYPE, rec_setting_type_find);
	struct rec_setting setting = {
		.jvm = jfr_fill_jvm_of(f, jfr_number(e, SETTING_PID)),
		.name = jfr_fill_text(f, e, SETTING_NAME),
		.value = jfr_fill_text(f, e, SETTING_VALUE),
		.origin = jfr_fill_text(f, e, SETTING_ORIGIN),
	};

	if (kind < 0 || type < 0 || !setting.jvm || !setting.name)
		return;
	setting.kind = (uint32_t)kind;
	setting.type = (uint32_t)type;
	rec_setting_set(f->rec, &setting);
}

/* ---- of the JVM's own recordings, which are of one JVM */

enum { FLAG_NAME, FLAG_VALUE, FLAG_ORIGIN };

static void add_flag(struct jfr_filler *f, const struct jfr_item *e, enum rec_setting_type type,
		     const char *value)
{
	struct rec_setting setting = { .jvm = f->resolver.jvm,
				       .kind = REC_SETTING_FLAG,
				       .type = type };

	if (f->is_ours || !setting.jvm)
		return;
	setting.value = add_text(f, value);
	setting.name = jfr_fill_text(f, e, FLAG_NAME);
	setting.origin = jfr_fill_text(f, e, FLAG_ORIGIN);
	if (setting.name)
		rec_setting_set(f->rec, &setting);
}

static void add_number(struct jfr_filler *f, const struct jfr_item *e, enum rec_setting_type type)
{
	int64_t number = jfr_number(e, FLAG_VALUE);
	char text[32];

	if (type == REC_SETTING_UNSIGNED_INT)
		number = (uint32_t)number;
	snprintf(text, sizeof(text), type == REC_SETTING_UNSIGNED_LONG ? "%" PRIu64 : "%" PRId64,
		 number);
	add_flag(f, e, type, text);
}

void jfr_fill_boolean_flag(void *ctx, const struct jfr_item *e)
{
	add_flag(ctx, e, REC_SETTING_BOOL, jfr_number(e, FLAG_VALUE) ? "true" : "false");
}

void jfr_fill_int_flag(void *ctx, const struct jfr_item *e)
{
	add_number(ctx, e, REC_SETTING_INT);
}

void jfr_fill_unsigned_int_flag(void *ctx, const struct jfr_item *e)
{
	add_number(ctx, e, REC_SETTING_UNSIGNED_INT);
}

void jfr_fill_long_flag(void *ctx, const struct jfr_item *e)
{
	add_number(ctx, e, REC_SETTING_LONG);
}

void jfr_fill_unsigned_long_flag(void *ctx, const struct jfr_item *e)
{
	add_number(ctx, e, REC_SETTING_UNSIGNED_LONG);
}

void jfr_fill_double_flag(void *ctx, const struct jfr_item *e)
{
	char text[32];

	snprintf(text, sizeof(text), "%.17g", jfr_decimal(e, FLAG_VALUE));
	add_flag(ctx, e, REC_SETTING_DOUBLE, text);
}

void jfr_fill_string_flag(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct strbuf text = { 0 };

	jfr_text(e, FLAG_VALUE, &text);
	add_flag(f, e, REC_SETTING_TEXT, strbuf_text(&text));
	strbuf_free(&text);
}

enum { PROPERTY_KEY, PROPERTY_VALUE };

void jfr_fill_system_property(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_setting setting = {
		.jvm = f->resolver.jvm,
		.kind = REC_SETTING_PROPERTY,
		.type = REC_SETTING_TEXT,
		.name = jfr_fill_text(f, e, PROPERTY_KEY),
		.value = jfr_fill_text(f, e, PROPERTY_VALUE),
	};

	if (!f->is_ours && setting.jvm && setting.name)
		rec_setting_set(f->rec, &setting);
}
