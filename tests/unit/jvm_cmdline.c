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
	cmdline_arguments(bytes, sizeof(bytes), to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "-Xm");
}

static CU_TestInfo tests[] = {
	{ "tells what is run, and how", tells_what_is_run_and_how },
	{ "cuts at the size given", cuts_at_the_size_given },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_cmdline_suite = {
	.pName = "jvm cmdline",
	.pTests = tests,
};
