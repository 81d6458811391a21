/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/flags.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "target/target.h"
#include "unit/unit.h"

/* A JVM's table of flags in our own memory, as 17 and later have it, and as 8 has it. */

struct flag_17 {
	const void *address;
	const char *name;
	int32_t bits;
	int32_t type;
};

struct flag_8 {
	const char *type;
	const char *name;
	const void *address;
	int32_t bits;
	int32_t pad;
};

static const uint8_t yes = 1, no;
static const int32_t minus = -3;
static const uint32_t large = UINT32_MAX;
static const int64_t minus_long = INT64_MIN;
static const uint64_t size = UINT64_MAX;
static const double half = 0.1;
static const char *const path = "/tmp/\xff", *const none;

static struct flag_17 flags_17[] = {
	{ &yes, "UseTLAB", 0, 0 },	    /* one that is told of */
	{ &yes, "UseSomethingElse", 0, 0 }, /* as the JDK has it */
	{ &no, "UseThis", 1, 0 },	    { &minus, "AnInt", 5 | 1 << 17, 1 },
	{ &large, "AUint", 2, 2 },	    { &minus_long, "AnIntx", 3, 3 },
	{ &size, "MaxHeapSize", 0, 6 },	    { &half, "ADouble", 1, 7 },
	{ &path, "AText", 1, 8 },	    { &none, "NoText", 1, 8 },
	{ &yes, "OfNoType", 1, 99 },	    { &yes, "OfNoOrigin", 15, 0 },
	{ NULL, "Nowhere", 1, 0 },	    { &yes, NULL, 1, 0 },
};
static struct flag_8 flags_8[] = {
	{ "uintx", "MaxHeapSize", &size, 0, 0 },
	{ "bool", "UseThis", &yes, 1, 0 },
	{ "nonsense", "OfNoType", &yes, 1, 0 },
	{ NULL, "WithoutType", &yes, 1, 0 },
};

static const void *table;
static uint64_t count;
static struct hotspot hotspot;
static struct target *t;
static char told[1024];

static void setup(void)
{
	struct fields *f = &hotspot.field;

	memset(&hotspot, 0, sizeof(hotspot));
	table = flags_17;
	count = ARRAY_SIZE(flags_17);
	hotspot.flag_bytes = sizeof(*flags_17);
	f->flags = (struct field){ .at = (uintptr_t)&table, .size = 8 };
	f->flag_count = (struct field){ .at = (uintptr_t)&count, .size = 8 };
	f->flag_address = (struct field){ .at = offsetof(struct flag_17, address), .size = 8 };
	f->flag_name = (struct field){ .at = offsetof(struct flag_17, name), .size = 8 };
	f->flag_bits = (struct field){ .at = offsetof(struct flag_17, bits), .size = 4 };
	f->flag_type = (struct field){ .at = offsetof(struct flag_17, type), .size = 4 };
	told[0] = 0;
	ASSERT_INT(target_open(getpid(), &t), 0);
}

static void teardown(void)
{
	target_close(t);
}

static void tell(const struct flag *flag, void *ctx)
{
	size_t len = strlen(told);

	(void)ctx;
	snprintf(told + len, sizeof(told) - len, "%s %d %s (%s)\n", flag->name, (int)flag->type,
		 flag->value, flag->origin);
}

static void flags_are_told_with_their_values(void)
{
	ASSERT_INT(flags_each(t, &hotspot, tell, NULL), 0);
	CU_ASSERT_STRING_EQUAL(told, "UseTLAB 0 true (Default)\n"
				     "UseThis 0 false (Command line)\n"
				     "AnInt 1 -3 (Ergonomic)\n"
				     "AUint 2 4294967295 (Environment variable)\n"
				     "AnIntx 3 -9223372036854775808 (Config file)\n"
				     "MaxHeapSize 6 18446744073709551615 (Default)\n"
				     "ADouble 7 0.10000000000000001 (Command line)\n"
				     "AText 8 /tmp/\xff (Command line)\n"
				     "NoText 8  (Command line)\n"
				     "OfNoOrigin 0 true (Internal)\n");
}

static void types_may_be_names(void)
{
	struct fields *f = &hotspot.field;

	table = flags_8;
	count = ARRAY_SIZE(flags_8);
	hotspot.flag_bytes = sizeof(*flags_8);
	f->flag_address.at = offsetof(struct flag_8, address);
	f->flag_name.at = offsetof(struct flag_8, name);
	f->flag_bits.at = offsetof(struct flag_8, bits);
	f->flag_type = (struct field){ .at = offsetof(struct flag_8, type), .size = 8 };
	ASSERT_INT(flags_each(t, &hotspot, tell, NULL), 0);
	CU_ASSERT_STRING_EQUAL(told, "MaxHeapSize 4 18446744073709551615 (Default)\n"
				     "UseThis 0 true (Command line)\n");
}

static void a_table_without_types_is_said(void)
{
	hotspot.field.flag_type.size = 0;
	ASSERT_INT(flags_each(t, &hotspot, tell, NULL), -ENOENT);
	hotspot.field.flag_type.size = 4;
	hotspot.flag_bytes = 0;
	ASSERT_INT(flags_each(t, &hotspot, tell, NULL), -ENOENT);
	hotspot.flag_bytes = sizeof(*flags_17);
	count = UINT64_MAX;
	ASSERT_INT(flags_each(t, &hotspot, tell, NULL), -ENOENT);
	count = 3;
	table = NULL;
	ASSERT_INT(flags_each(t, &hotspot, tell, NULL), -EFAULT);
	CU_ASSERT_STRING_EQUAL(told, "");
}

static CU_TestInfo tests[] = {
	{ "flags are told with their values", flags_are_told_with_their_values },
	{ "types may be names", types_may_be_names },
	{ "a table without types is said", a_table_without_types_is_said },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_flags_suite = {
	.pName = "jvm_flags",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
