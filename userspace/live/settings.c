/* SPDX-License-Identifier: Apache-2.0 */
#include "live/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "jvm/flags.h"
#include "jvm/jvm.h"
#include "live/process.h"
#include "model/recording.h"
#include "model/settings.h"

#define VALUE_MAX 1024 /* as jvm/flags.c reads them */

struct teller {
	struct recording *rec;
	uint32_t jvm;
};

static uint32_t text(struct recording *rec, const char *s)
{
	char valid[VALUE_MAX];
	size_t len = text_utf8(s, strlen(s), valid, sizeof(valid));

	return len ? rec_string(rec, valid, len) : 0;
}

static void on_flag(const struct flag *flag, void *ctx)
{
	static const enum rec_setting_type types[FLAG_TYPES] = {
		[FLAG_BOOL] = REC_SETTING_BOOL,		  [FLAG_INT] = REC_SETTING_INT,
		[FLAG_UINT] = REC_SETTING_UNSIGNED_INT,	  [FLAG_INTX] = REC_SETTING_LONG,
		[FLAG_UINTX] = REC_SETTING_UNSIGNED_LONG, [FLAG_UINT64] = REC_SETTING_UNSIGNED_LONG,
		[FLAG_SIZE] = REC_SETTING_UNSIGNED_LONG,  [FLAG_DOUBLE] = REC_SETTING_DOUBLE,
		[FLAG_TEXT] = REC_SETTING_TEXT,		  [FLAG_TEXTS] = REC_SETTING_TEXT,
	};
	struct teller *teller = ctx;
	struct rec_setting setting = { .jvm = teller->jvm,
				       .kind = REC_SETTING_FLAG,
				       .type = types[flag->type] };

	setting.name = text(teller->rec, flag->name);
	setting.value = text(teller->rec, flag->value);
	setting.origin = text(teller->rec, flag->origin);
	rec_setting_set(teller->rec, &setting);
}

static void on_fact(const char *name, uint64_t value, void *ctx)
{
	struct teller *teller = ctx;
	struct rec_setting setting = { .jvm = teller->jvm,
				       .kind = REC_SETTING_FACT,
				       .type = REC_SETTING_UNSIGNED_LONG };
	char number[32];

	snprintf(number, sizeof(number), "%" PRIu64, value);
	setting.name = text(teller->rec, name);
	setting.value = text(teller->rec, number);
	rec_setting_set(teller->rec, &setting);
}

void settings_put(const struct process *p, struct recording *rec)
{
	struct teller teller = { .rec = rec, .jvm = p->rec_jvm };
	struct rec_setting version = { .jvm = p->rec_jvm,
				       .kind = REC_SETTING_PROPERTY,
				       .type = REC_SETTING_TEXT };

	version.name = text(rec, "java.vm.version");
	version.value = text(rec, jvm_version(p->jvm));
	if (version.value)
		rec_setting_set(rec, &version);
	/* Facts first: events that follow from flags have them. */
	jvm_facts(p->jvm, on_fact, &teller);
	jvm_flags(p->jvm, on_flag, &teller);
}
