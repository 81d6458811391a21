/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "golden/recording.h"
#include "jfr/jfr_decode.h"
#include "jfr/jfr_events.h"
#include "jfr/jfr_write.h"
#include "model/settings.h"
#include "unit/jfr_walk.h"

#include "unit/jfr_made.h" /* last: it has variables */

/* What JVMs run with, as events of the JDK: userspace/jfr/jfr_write_settings.c. */

static int seen[JFR_DECLARED_FIRST];
static uint64_t longs[8]; /* the first fields of the event that was asked for */
static uint64_t asked;

static void setup(void)
{
	asked = 0;
	begin_file(golden_recording());
}

static void see(void *ctx, const struct walked_event *event)
{
	struct cursor c = cursor_of(event->fields, event->size);

	(void)ctx;
	if (event->type < JFR_DECLARED_FIRST)
		seen[event->type]++;
	if (event->type != asked)
		return;
	jfr_varint(&c); /* its time */
	for (size_t i = 0; i < ARRAY_SIZE(longs); i++)
		longs[i] = jfr_varint(&c);
}

static void look(int chunks)
{
	const struct walker walker = { .event = see };
	int64_t end_ns = rec_meta_get(rec)->start_time_ns + chunks * 1000000000ll;

	ASSERT_INT(jfr_writer_segment(writer, rec, end_ns, -1), 0);
	memset(seen, 0, sizeof(seen));
	ASSERT_INT(walk(bytes, size, &walker), chunks);
}

static void set(enum rec_setting_kind kind, const char *name, enum rec_setting_type type,
		const char *value, const char *origin)
{
	struct rec_setting setting = { .jvm = 1, .kind = kind, .type = type };

	setting.name = rec_string(rec, name, strlen(name));
	setting.value = rec_string(rec, value, strlen(value));
	setting.origin = rec_string(rec, origin, strlen(origin));
	rec_setting_set(rec, &setting);
}

static void flags_become_configurations(void)
{
	set(REC_SETTING_FLAG, "NewSize", REC_SETTING_UNSIGNED_LONG, "4096", "Ergonomic");
	set(REC_SETTING_FLAG, "MaxNewSize", REC_SETTING_UNSIGNED_LONG, "8192", "Command line");
	set(REC_SETTING_FLAG, "NewRatio", REC_SETTING_UNSIGNED_LONG, "2", "Default");
	asked = JFR_YOUNG_GENERATION_CONFIGURATION;
	look(1);
	ASSERT_INT(seen[JFR_YOUNG_GENERATION_CONFIGURATION], 1);
	ASSERT_INT(seen[JFR_GC_CONFIGURATION], 1);
	ASSERT_INT(seen[JFR_UNSIGNED_LONG_FLAG], 3);
	ASSERT_INT(seen[JFR_SETTING], 3);
	ASSERT_INT(longs[0], 4096);
	ASSERT_INT(longs[1], 8192);
	ASSERT_INT(longs[2], 2);
	/* Each chunk has all. A default that means "no limit" is not one. */
	set(REC_SETTING_FLAG, "MaxNewSize", REC_SETTING_UNSIGNED_LONG, "18446744073709551615",
	    "Default");
	look(2);
	ASSERT_INT(seen[JFR_YOUNG_GENERATION_CONFIGURATION], 2);
	ASSERT_INT(longs[1], INT64_MIN);
}

static void what_is_not_known_has_no_events(void)
{
	look(1);
	ASSERT_INT(seen[JFR_GC_CONFIGURATION] + seen[JFR_SETTING], 0);
	/* The version of each of its two JVMs. */
	ASSERT_INT(seen[JFR_INITIAL_SYSTEM_PROPERTY], 2);
	/* Properties without flags; of the first JVM they have the version, too. */
	set(REC_SETTING_PROPERTY, "java.vm.version", REC_SETTING_TEXT, "17", "");
	set(REC_SETTING_PROPERTY, "java.home", REC_SETTING_TEXT, "/jdk", "");
	look(2);
	ASSERT_INT(seen[JFR_GC_CONFIGURATION], 0);
	ASSERT_INT(seen[JFR_SETTING], 2);
	ASSERT_INT(seen[JFR_INITIAL_SYSTEM_PROPERTY], 2 + 1 + 2);
}

static void references_are_short_in_four_ways(void)
{
	static const struct {
		const char *base, *shift, *mode;
	} cases[] = {
		{ "0", "0", "32-bit" },
		{ "0", "3", "Zero based" },
		{ "34359738368", "3", "Non-zero disjoint base" },
		{ "34359742464", "3", "Non-zero based" },
	};

	set(REC_SETTING_FLAG, "UseCompressedOops", REC_SETTING_BOOL, "true", "Default");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t before = size;

		set(REC_SETTING_FACT, "narrow_oop_base", REC_SETTING_UNSIGNED_LONG, cases[i].base,
		    "");
		set(REC_SETTING_FACT, "narrow_oop_shift", REC_SETTING_UNSIGNED_LONG, cases[i].shift,
		    "");
		look((int)i + 1);
		CU_ASSERT_PTR_NOT_NULL(memmem(bytes + before, size - before, cases[i].mode,
					      strlen(cases[i].mode)));
	}
}

static CU_TestInfo tests[] = {
	{ "flags become configurations", flags_become_configurations },
	{ "what is not known has no events", what_is_not_known_has_no_events },
	{ "references are short in four ways", references_are_short_in_four_ways },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_settings_suite = {
	.pName = "jfr_settings",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
