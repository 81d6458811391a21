/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "golden/exported.h"
#include "profile.pb-c.h"
#include "unit/rec_random.h"

static Perftools__Profiles__Profile *written(const struct recording *from)
{
	size_t room = 16u << 20;
	uint8_t *plain = malloc(room);
	Perftools__Profiles__Profile *profile;
	z_stream z = { 0 };

	ASSERT_INT(golden_export(pprof_write, from, NULL), 0);
	ASSERT_INT(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = (unsigned char *)exported.bytes;
	z.avail_in = (uInt)exported.size;
	z.next_out = plain;
	z.avail_out = (uInt)room;
	ASSERT_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
	profile = perftools__profiles__profile__unpack(NULL, room - z.avail_out, plain);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	inflateEnd(&z);
	free(plain);
	return profile;
}

static const char *text_of(const Perftools__Profiles__Profile *profile, int64_t string)
{
	CU_ASSERT_FATAL(string >= 0 && string < (int64_t)profile->n_string_table);
	return profile->string_table[string];
}

/* Ids are those of the places, counted from 1: what refers to them is looked up by that. */
static void everything_that_is_referred_to_is_there(void)
{
	struct recording *random = random_recording(5, false);
	Perftools__Profiles__Profile *p = written(random);

	CU_ASSERT_STRING_EQUAL(p->string_table[0], "");
	for (size_t i = 0; i < p->n_location; i++) {
		ASSERT_INT(p->location[i]->id, i + 1);
		ASSERT_INT(p->location[i]->n_line, 1);
		CU_ASSERT_FATAL(p->location[i]->mapping_id <= p->n_mapping);
	}
	for (size_t i = 0; i < p->n_function; i++)
		CU_ASSERT(*text_of(p, p->function[i]->name) != 0);
	for (size_t i = 0; i < p->n_location; i++) {
		size_t f = 0;

		while (f < p->n_function &&
		       p->function[f]->id != p->location[i]->line[0]->function_id)
			f++;
		CU_ASSERT_FATAL(f < p->n_function);
	}
	for (size_t i = 0; i < p->n_sample; i++) {
		ASSERT_INT(p->sample[i]->n_value, p->n_sample_type);
		CU_ASSERT_FATAL(p->sample[i]->n_location_id > 0);
		for (size_t k = 0; k < p->sample[i]->n_location_id; k++)
			CU_ASSERT_FATAL(p->sample[i]->location_id[k] - 1 < p->n_location);
	}
	perftools__profiles__profile__free_unpacked(p, NULL);
	rec_free(random);
}

static void totals_are_kept(void)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct recording *random = random_recording(seed, false);
		Perftools__Profiles__Profile *p = written(random);
		int64_t count = 0, value = 0;
		size_t totals;
		const struct rec_total *total = rec_totals(random, &totals);

		for (size_t i = 0; i < totals; i++, total++) {
			count += total->count;
			value += total->value;
		}
		/* Of each metric a count and a value. */
		for (size_t i = 0; i < p->n_sample; i++) {
			for (size_t k = 0; k < p->sample[i]->n_value; k += 2) {
				count -= p->sample[i]->value[k];
				value -= p->sample[i]->value[k + 1];
			}
		}
		ASSERT_INT(count, 0);
		ASSERT_INT(value, 0);
		perftools__profiles__profile__free_unpacked(p, NULL);
		rec_free(random);
	}
}

static bool has_comment(const Perftools__Profiles__Profile *p, const char *text)
{
	for (size_t i = 0; i < p->n_comment; i++) {
		if (!strcmp(text_of(p, p->comment[i]), text))
			return true;
	}
	return false;
}

static void a_full_recording_says_what_and_how_well(void)
{
	Perftools__Profiles__Profile *p = written(rec);

	ASSERT_INT(p->n_sample_type, 2);
	CU_ASSERT_STRING_EQUAL(text_of(p, p->sample_type[0]->type), "samples");
	CU_ASSERT_STRING_EQUAL(text_of(p, p->sample_type[1]->unit), "nanoseconds");
	CU_ASSERT_STRING_EQUAL(text_of(p, p->default_sample_type), "cpu");
	ASSERT_INT(p->period, 1000000000 / 99);
	ASSERT_INT(p->time_nanos, 1700000000000000000);
	ASSERT_INT(p->duration_nanos, 10500000000);
	CU_ASSERT(has_comment(p, "jvmscope 0.1.0"));
	CU_ASSERT(has_comment(p, "samples lost, ring-full: 2"));
	perftools__profiles__profile__free_unpacked(p, NULL);
}

static void an_empty_recording_is_a_profile_without_samples(void)
{
	struct recording *empty = rec_new();
	Perftools__Profiles__Profile *p = written(empty);

	ASSERT_INT(p->n_sample, 0);
	ASSERT_INT(p->n_sample_type, 2);
	perftools__profiles__profile__free_unpacked(p, NULL);
	rec_free(empty);
}

static void a_full_disk_is_noticed(void)
{
	const struct export_options options = { 0 };
	FILE *out = fopen("/dev/full", "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ASSERT_INT(pprof_write(rec, &options, out), -ENOSPC);
	fclose(out);
}

static CU_TestInfo tests[] = {
	{ "everything that is referred to is there", everything_that_is_referred_to_is_there },
	{ "totals are kept", totals_are_kept },
	{ "a full recording says what and how well", a_full_recording_says_what_and_how_well },
	{ "an empty recording is a profile without samples",
	  an_empty_recording_is_a_profile_without_samples },
	{ "a full disk is noticed", a_full_disk_is_noticed },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo exporters_pprof_suite = {
	.pName = "pprof",
	.pSetUpFunc = golden_setup,
	.pTearDownFunc = golden_teardown,
	.pTests = tests,
};
