/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "target/image.h"
#include "unit/unit.h"

static void demangles(void)
{
	static const struct {
		const char *name;
		const char *text;
	} cases[] = {
		{ "_ZN2os6mallocEm8MEMFLAGSRK15NativeCallStack", "os::malloc" },
		{ "_ZN2os6mallocEm8MEMFLAGS.part.0.constprop.1", "os::malloc" },
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi@@GLIBCXX_3.4",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "Unsafe_AllocateMemory0", "Unsafe_AllocateMemory0" },
		{ "read@@GLIBC_2.2.5", "read" },
		{ "memcpy.cold", "memcpy" },
		{ ".hidden", ".hidden" },
		{ "_Z", "_Z" },
		{ "_R", "_R" },
		{ "", "" },
	};
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT_STRING_EQUAL(image_demangle(cases[i].name, text, sizeof(text)),
				       cases[i].text);
	CU_ASSERT_STRING_EQUAL(image_demangle(cases[0].name, text, 5), "os::");
	CU_ASSERT_STRING_EQUAL(image_demangle("Unsafe", text, 5), "Unsa");
	CU_ASSERT_STRING_EQUAL(image_demangle("Unsafe", text, 1), "");
}

/* Each pair holds the one before it twice: 2^60 times "int". */
static void leaves_a_name_that_never_ends(void)
{
	char name[1024] = "_Z1fISt4pairIiiE";
	char text[4096];
	size_t len = strlen(name);
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (int i = 0; i < 60; i++) {
		if (i < 36)
			len += (size_t)snprintf(name + len, sizeof(name) - len, "S_IS%c_S%c_E",
						digits[i], digits[i]);
		else
			len += (size_t)snprintf(name + len, sizeof(name) - len, "S_IS1%c_S1%c_E",
						digits[i - 36], digits[i - 36]);
	}
	snprintf(name + len, sizeof(name) - len, "EvT_");
	image_demangle(name, text, sizeof(text));
	ASSERT_INT(strlen(text), sizeof(text) - 1);
	CU_ASSERT(!strncmp(text, "f<std::pair<int, int>, ", 23) || !strncmp(text, "void f<", 7));
}

/* A reference back of Rust: to the type that begins at a place of the name. */
static size_t put_back_reference(char *to, size_t place)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len = 0;

	to[len++] = 'B';
	if (place > 62)
		to[len++] = digits[(place - 1) / 62];
	to[len++] = digits[(place - 1) % 62];
	to[len++] = '_';
	return len;
}

/* The demangler holds memory while it prints such an identifier: the sanitizer would tell. */
static void leaves_no_memory_behind(void)
{
	static const struct {
		const char *name;
		const char *text;
	} cases[] = {
		{ "_RNvCu7mycrate1o", "\xe0\xb5\xaf\xe0\xb5\xb5\xe0\xb5\xb4\xe0\xb5\xaf\xe0\xb5\xa6"
				      "::o" },
		{ "_RNvC4coreu8gdel_5qa", "core::g\xc3\xb6"
					  "del" },
		{ "_RNvNtC4core3str9parse_u64", "core::str::parse_u64" },
	};
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CU_ASSERT_STRING_EQUAL(image_demangle(cases[i].name, text, sizeof(text)),
				       cases[i].text);
		for (size_t size = 1; size <= strlen(cases[i].text); size++) {
			image_demangle(cases[i].name, text, size);
			ASSERT_INT(strlen(text), size - 1);
			CU_ASSERT(!strncmp(text, cases[i].text, size - 1));
		}
	}
}

/* The same in Rust: 2^40 times an identifier in punycode. */
static void leaves_a_rust_name_that_never_ends(void)
{
	static const char start_text[] = "foo::bar::<g\xc3\xb6"
					 "del::x, (g";
	char name[1024] = "_RINvC3foo3barNtCu8gdel_5qa1x";
	size_t len = strlen(name), type = strlen("INvC3foo3bar"), begin;
	char text[4096];

	for (int i = 0; i < 40; i++) {
		begin = len - strlen("_R");
		name[len++] = 'T';
		len += put_back_reference(name + len, type);
		len += put_back_reference(name + len, type);
		name[len++] = 'E';
		type = begin;
	}
	name[len++] = 'E';
	name[len] = '\0';
	image_demangle(name, text, sizeof(text));
	ASSERT_INT(strlen(text), sizeof(text) - 1);
	CU_ASSERT_NSTRING_EQUAL(text, start_text, strlen(start_text));
}

static CU_TestInfo tests[] = {
	{ "demangles", demangles },
	{ "leaves a name that never ends", leaves_a_name_that_never_ends },
	{ "leaves no memory behind", leaves_no_memory_behind },
	{ "leaves a Rust name that never ends", leaves_a_rust_name_that_never_ends },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_demangle_suite = {
	.pName = "target demangle",
	.pTests = tests,
};
