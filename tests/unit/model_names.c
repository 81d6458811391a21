/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "model/names.h"
#include "unit/unit.h"

#define ADDRESS "0x00007f8b4c001000"

static struct strbuf normal, raw;

static void teardown(void)
{
	strbuf_free(&normal);
	strbuf_free(&raw);
}

struct expected {
	const char *internal, *normal, *raw; /* raw "": the same as normal */
};

static void check(const struct expected *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		names_class(cases[i].internal, strlen(cases[i].internal), &normal, &raw);
		CU_ASSERT_STRING_EQUAL(strbuf_text(&normal), cases[i].normal);
		CU_ASSERT_STRING_EQUAL(strbuf_text(&raw), cases[i].raw);
	}
}

static void names_of_source_code_only_get_dots(void)
{
	static const struct expected cases[] = {
		{ "com/example/Foo", "com.example.Foo", "" },
		{ "Foo", "Foo", "" },
		{ "", "", "" },
		{ "com/example/Foo$Inner$1", "com.example.Foo$Inner$1", "" },
		{ "Foo$Proxy12", "Foo$Proxy12", "" },
		{ "Foo$$Lambda", "Foo$$Lambda", "" },
		{ "Foo$$LambdaX12", "Foo$$LambdaX12", "" },
		{ "com/example/GeneratedMethodAccessor12", "com.example.GeneratedMethodAccessor12",
		  "" },
		{ "a+b", "a+b", "" },
		{ "a+0xyz", "a+0xyz", "" },
		{ "a/12", "a.12", "" },
		{ "jdk/internal/reflect/DirectMethodHandleAccessor",
		  "jdk.internal.reflect.DirectMethodHandleAccessor", "" },
		{ "\xed\x95\x9c/\xea\xb8\x80", "\xed\x95\x9c.\xea\xb8\x80", "" },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void lambdas_are_one_name(void)
{
	static const struct expected cases[] = {
		/* 21 and later, 17, 11, 8 */
		{ "com/example/Foo$$Lambda+" ADDRESS, "com.example.Foo$$Lambda",
		  "com.example.Foo$$Lambda/" ADDRESS },
		{ "Foo$$Lambda$12+" ADDRESS, "Foo$$Lambda", "Foo$$Lambda$12/" ADDRESS },
		{ "Foo$$Lambda$12/" ADDRESS, "Foo$$Lambda", "Foo$$Lambda$12/" ADDRESS },
		{ "Foo$$Lambda.0x7f01", "Foo$$Lambda", "Foo$$Lambda/0x7f01" },
		{ "Foo$$Lambda$12", "Foo$$Lambda", "Foo$$Lambda$12" },
		{ "Foo$$Lambda$1/640070680", "Foo$$Lambda", "Foo$$Lambda$1/640070680" },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void hidden_classes_lose_their_suffix(void)
{
	static const struct expected cases[] = {
		{ "java/lang/invoke/LambdaForm$MH+" ADDRESS, "java.lang.invoke.LambdaForm$MH",
		  "java.lang.invoke.LambdaForm$MH/" ADDRESS },
		{ "java/lang/invoke/LambdaForm$DMH/1712669532", "java.lang.invoke.LambdaForm$DMH",
		  "java.lang.invoke.LambdaForm$DMH/1712669532" },
		{ "LambdaHidden$Hidden+" ADDRESS, "LambdaHidden$Hidden",
		  "LambdaHidden$Hidden/" ADDRESS },
		{ "X/0x1", "X", "X/0x1" },
		{ "java/lang/String$$StringConcat+0x0000000001000400",
		  "java.lang.String$$StringConcat",
		  "java.lang.String$$StringConcat/0x0000000001000400" },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void proxies_are_one_name(void)
{
	static const struct expected cases[] = {
		{ "jdk/proxy2/$Proxy12", "jdk.proxy.$Proxy", "jdk.proxy2.$Proxy12" },
		{ "jdk/proxy1/$Proxy0", "jdk.proxy.$Proxy", "jdk.proxy1.$Proxy0" },
		{ "com/sun/proxy/$Proxy3", "jdk.proxy.$Proxy", "com.sun.proxy.$Proxy3" },
		{ "com/sun/proxy/jdk/proxy1/$Proxy3", "jdk.proxy.$Proxy",
		  "com.sun.proxy.jdk.proxy1.$Proxy3" },
		{ "com/example/$Proxy44", "com.example.$Proxy", "com.example.$Proxy44" },
		{ "$Proxy7", "$Proxy", "$Proxy7" },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void reflection_accessors_are_one_name(void)
{
	static const struct expected cases[] = {
		{ "jdk/internal/reflect/GeneratedMethodAccessor12",
		  "jdk.internal.reflect.GeneratedMethodAccessor",
		  "jdk.internal.reflect.GeneratedMethodAccessor12" },
		{ "sun/reflect/GeneratedMethodAccessor1", "sun.reflect.GeneratedMethodAccessor",
		  "sun.reflect.GeneratedMethodAccessor1" },
		{ "jdk/internal/reflect/GeneratedConstructorAccessor3",
		  "jdk.internal.reflect.GeneratedConstructorAccessor",
		  "jdk.internal.reflect.GeneratedConstructorAccessor3" },
		{ "jdk/internal/reflect/GeneratedSerializationConstructorAccessor7",
		  "jdk.internal.reflect.GeneratedSerializationConstructorAccessor",
		  "jdk.internal.reflect.GeneratedSerializationConstructorAccessor7" },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void arrays_are_named_as_in_java(void)
{
	static const struct expected cases[] = {
		{ "[B", "byte[]", "" },
		{ "[[Z", "boolean[][]", "" },
		{ "[Ljava/lang/Object;", "java.lang.Object[]", "" },
		{ "[[Lcom/example/Foo$1;", "com.example.Foo$1[][]", "" },
		{ "[LFoo$$Lambda$7+" ADDRESS ";", "Foo$$Lambda[]", "Foo$$Lambda$7/" ADDRESS "[]" },
		{ "java/lang/String", "java.lang.String", "" },
		{ "B", "B", "" },
		/* what is none */
		{ "[", "[", "" },
		{ "[X", "[X", "" },
		{ "[L;", "[L;", "" },
		{ "[BB", "[BB", "" },
		{ "[LFoo", "[LFoo", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		names_type(cases[i].internal, strlen(cases[i].internal), &normal, &raw);
		CU_ASSERT_STRING_EQUAL(strbuf_text(&normal), cases[i].normal);
		CU_ASSERT_STRING_EQUAL(strbuf_text(&raw), cases[i].raw);
	}
}

static void names_of_arrays_have_a_way_back(void)
{
	static const char *const arrays[] = { "[B", "[[C", "[D", "[[[F",   "[I",
					      "[J", "[S",  "[Z", "[LFoo;", "[[Ljava/lang/Object;" };

	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		names_type(arrays[i], strlen(arrays[i]), &normal, &raw);
		CU_ASSERT_TRUE(names_array(strbuf_text(&normal), &raw));
		CU_ASSERT_STRING_EQUAL(strbuf_text(&raw), arrays[i]);
	}
	CU_ASSERT_FALSE(names_array("java.lang.String", &raw));
	CU_ASSERT_STRING_EQUAL(strbuf_text(&raw), "");
	CU_ASSERT_FALSE(names_array("[]", &raw));
	CU_ASSERT_FALSE(names_array("", &raw));
}

static void any_bytes_are_survived(void)
{
	char bytes[64];
	uint32_t random = 7;

	for (int round = 0; round < 20000; round++) {
		size_t len = (size_t)round % sizeof(bytes);

		for (size_t i = 0; i < len; i++) {
			random = random * 1664525 + 1013904223;
			bytes[i] = "$+/.0x9aPL*#\0\xff"[(random >> 24) % 14];
		}
		names_class(bytes, len, &normal, &raw);
		CU_ASSERT_FATAL(normal.len <= len);
		CU_ASSERT_FATAL(raw.len <= len);
	}
}

static CU_TestInfo tests[] = {
	{ "names of source code only get dots", names_of_source_code_only_get_dots },
	{ "lambdas are one name", lambdas_are_one_name },
	{ "hidden classes lose their suffix", hidden_classes_lose_their_suffix },
	{ "proxies are one name", proxies_are_one_name },
	{ "reflection accessors are one name", reflection_accessors_are_one_name },
	{ "arrays are named as in Java", arrays_are_named_as_in_java },
	{ "names of arrays have a way back", names_of_arrays_have_a_way_back },
	{ "any bytes are survived", any_bytes_are_survived },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_names_suite = {
	.pName = "names",
	.pTearDownFunc = teardown,
	.pTests = tests,
};
