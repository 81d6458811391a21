/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/cmdline.h"
#include "unit/unit.h"

/* A command line as text: | stands for the NUL that ends an argument. */
struct line {
	const char *arguments;
	const char *main_class;
	const char *shown;
};

static const struct line lines[] = {
	{ "java|Main|", "Main", "" },
	{ "java|-Xmx1g|-cp|a:b|com.example.Main|-x|y|", "com.example.Main", "-Xmx1g" },
	{ "java|-classpath|Main|Other|", "Other", "" },
	{ "java|--class-path=Main|Other|", "Other", "" },
	{ "java|-XX:+UseG1GC|-jar|/app/app.jar|--port|1|", "/app/app.jar", "-XX:+UseG1GC" },
	{ "java|-p|mods|-m|app/com.example.Main|a|", "app/com.example.Main", "" },
	{ "java|--module-path=mods|--module=app|a|", "app", "" },
	{ "java|--add-opens|java.base/java.lang=ALL-UNNAMED|Main|", "Main",
	  "--add-opens java.base/java.lang=ALL-UNNAMED" },
	{ "java|--add-opens=java.base/java.lang=ALL-UNNAMED|Main|", "Main",
	  "--add-opens=java.base/java.lang=ALL-UNNAMED" },
	{ "java|@/etc/jvm.options|-Dx=1|Main|", "Main", "@/etc/jvm.options -Dx=1" },
	{ "java|--source|21|Hello.java|", "Hello.java", "--source 21" },
	{ "java|-javaagent:a.jar=x|-Dname=with space|Main|", "Main",
	  "-javaagent:a.jar=x -Dname=with space" },
	{ "java|-jar|", "", "" },
	{ "java|", "", "" },
	{ "java|-version|", "", "-version" },
	{ "java|-cp|", "", "" },
	{ "", "", "" },
	{ "java|Unended", "", "" },
	{ "java|M\xff\x01n|", "M\xef\xbf\xbd\xef\xbf\xbdn", "" },
};

static size_t bytes_of(const char *text, char *to)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		to[i] = (char)(text[i] == '|' ? 0 : text[i]);
	return len;
}

static void expect(const char *what, const char *actual, const char *expected)
{
	if (strcmp(actual, expected))
		fprintf(stderr, "%s: \"%s\", expected \"%s\"\n", what, actual, expected);
	CU_ASSERT_STRING_EQUAL(actual, expected);
}

static void tells_what_is_run_and_how(void)
{
	char bytes[256], to[256];
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		len = bytes_of(lines[i].arguments, bytes);
		cmdline_main_class(bytes, len, to, sizeof(to));
		expect(lines[i].arguments, to, lines[i].main_class);
		cmdline_arguments(bytes, len, to, sizeof(to));
		expect(lines[i].arguments, to, lines[i].shown);
	}
}

static void cuts_at_the_size_given(void)
{
	static const char bytes[] = "java\0-Xmx1g\0Main";
	char to[4] = "xxx";

	cmdline_main_class(bytes, sizeof(bytes), to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "Mai");
	/* No room for the mark. */
	cmdline_arguments(bytes, sizeof(bytes), to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "");
}

static void what_is_cut_is_marked(void)
{
	static const struct {
		size_t size;
		const char *expected;
	} cases[] = {
		{ 22, "-Dname=\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4xx" },
		{ 21, "-Dname= [truncated]" }, /* never half a character */
		{ 20, "-Dname= [truncated]" },
		{ 13, " [truncated]" },
		{ 12, "" },
		{ 1, "" },
	};
	static const char bytes[] =
		"java\0-Dname=\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4xx\0Main";
	char to[32];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cmdline_arguments(bytes, sizeof(bytes), to, cases[i].size);
		expect("cut", to, cases[i].expected);
	}
}

static void a_line_that_was_not_read_to_its_end_is_marked(void)
{
	static char bytes[CMDLINE_MAX];
	static char to[CMDLINE_MAX];

	/* As /proc gives the first bytes of a longer one. */
	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes, "java\0-Xmx1g\0-Dy=", 16);
	cmdline_arguments(bytes, sizeof(bytes) - 1, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "-Xmx1g [truncated]");
	/* The rest is the program's own. */
	memcpy(bytes + 12, "Main", 5);
	cmdline_arguments(bytes, sizeof(bytes) - 1, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "-Xmx1g");
}

static void four_thousand_bytes_of_options_are_whole(void)
{
	static char bytes[8192] = "java";
	static char to[CMDLINE_MAX];

	memset(bytes + 5, 'x', 6000);
	bytes[5] = '-';
	memcpy(bytes + 6006, "Main", 5);
	cmdline_arguments(bytes, 6011, to, sizeof(to));
	ASSERT_INT(strlen(to), 6000);
}

static CU_TestInfo tests[] = {
	{ "tells what is run, and how", tells_what_is_run_and_how },
	{ "cuts at the size given", cuts_at_the_size_given },
	{ "what is cut is marked", what_is_cut_is_marked },
	{ "a line that was not read to its end is marked",
	  a_line_that_was_not_read_to_its_end_is_marked },
	{ "four thousand bytes of options are whole", four_thousand_bytes_of_options_are_whole },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_cmdline_suite = {
	.pName = "jvm cmdline",
	.pTests = tests,
};
