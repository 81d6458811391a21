/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/strbuf.h"
#include "unit/unit.h"

static struct strbuf buf;

static void setup(void)
{
	buf = (struct strbuf){ 0 };
}

static void teardown(void)
{
	strbuf_free(&buf);
}

static void an_empty_buffer_has_text(void)
{
	CU_ASSERT_STRING_EQUAL(strbuf_text(&buf), "");
	strbuf_reset(&buf);
	strbuf_add(&buf, "", 0);
	CU_ASSERT_STRING_EQUAL(strbuf_text(&buf), "");
	ASSERT_INT(buf.truncated, false);
}

static void grows_and_keeps_everything(void)
{
	for (int i = 0; i < 10000; i++)
		strbuf_printf(&buf, "%d,", i % 10);
	ASSERT_INT(buf.len, 20000);
	ASSERT_INT(strlen(buf.text), 20000);
	CU_ASSERT_NSTRING_EQUAL(buf.text + 19980, "0,1,2,3,4,5,6,7,8,9,", 20);
	ASSERT_INT(buf.truncated, false);
}

static void keeps_nul_bytes(void)
{
	strbuf_add(&buf, "a\0b", 3);
	ASSERT_INT(buf.len, 3);
	ASSERT_INT(memcmp(buf.text, "a\0b", 4), 0);
}

static void stops_at_the_maximum_and_says_so(void)
{
	buf.max = 5;
	strbuf_puts(&buf, "abc");
	ASSERT_INT(buf.truncated, false);
	strbuf_puts(&buf, "defg");
	CU_ASSERT_STRING_EQUAL(strbuf_text(&buf), "abcde");
	ASSERT_INT(buf.truncated, true);
	strbuf_printf(&buf, "%s", "h");
	CU_ASSERT_STRING_EQUAL(strbuf_text(&buf), "abcde");

	strbuf_reset(&buf);
	ASSERT_INT(buf.truncated, false);
	strbuf_puts(&buf, "12345");
	CU_ASSERT_STRING_EQUAL(strbuf_text(&buf), "12345");
	ASSERT_INT(buf.truncated, false);
}

static void the_default_maximum_is_one_mebibyte(void)
{
	char block[4096];

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 257; i++)
		strbuf_add(&buf, block, sizeof(block));
	ASSERT_INT(buf.len, 1 << 20);
	ASSERT_INT(buf.truncated, true);
}

static CU_TestInfo tests[] = {
	{ "an empty buffer has text", an_empty_buffer_has_text },
	{ "grows and keeps everything", grows_and_keeps_everything },
	{ "keeps NUL bytes", keeps_nul_bytes },
	{ "stops at the maximum and says so", stops_at_the_maximum_and_says_so },
	{ "the default maximum is one mebibyte", the_default_maximum_is_one_mebibyte },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo base_strbuf_suite = {
	.pName = "strbuf",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
