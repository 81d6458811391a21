/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm/cmdline.h"
#include "jvm/launch.h"
#include "unit/jvm_fake.h"
#include "unit/unit.h"

#define OPTIONS 3

static struct target *self;
static struct hotspot hotspot;
static char to[CMDLINE_MAX];

/* The JVM's own variables. */
static const char *command;
static const char *options[OPTIONS];
static const char *const *array;
static int count;

static struct field variable(const void *at, uint8_t size)
{
	return (struct field){ .at = fake_address(at), .size = size };
}

static void setup(void)
{
	CU_ASSERT_FATAL(target_open(getpid(), &self) == 0);
	hotspot = (struct hotspot){ 0 };
	hotspot.field.java_command = variable(&command, 8);
	hotspot.field.jvm_args = variable(&array, 8);
	hotspot.field.jvm_arg_count = variable(&count, 4);
	hotspot.field.jvm_arg_count.is_signed = true;
	command = NULL;
	memset(options, 0, sizeof(options));
	array = options;
	count = 0;
}

static void teardown(void)
{
	target_close(self);
}

static void the_name_is_where_the_command_begins(void)
{
	static const struct {
		const char *command;
		const char *line_name;
		const char *name;
	} cases[] = {
		{ "com.example.Main a b", "com.example.Main", "com.example.Main" },
		{ "com.example.Main", "com.example.Main", "com.example.Main" },
		/* an @argfile named it, and what the line has is its argument */
		{ "com.example.Main arg1 arg2", "arg1", "com.example.Main" },
		{ "com.example.Main a", "", "com.example.Main" },
		{ "com.example.Main a", "com", "com.example.Main" },
		{ "/srv/my apps/app.jar --port 1", "/srv/my apps/app.jar", "/srv/my apps/app.jar" },
		{ "app/com.example.Main", "app/com.example.Main", "app/com.example.Main" },
		{ "jdk.compiler/com.sun.tools.javac.launcher.Main Hello.java x", "Hello.java",
		  "Hello.java" },
		{ "jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher my file.java",
		  "my file.java", "my file.java" },
		{ "jdk.compiler/com.sun.tools.javac.launcher.Main", "",
		  "jdk.compiler/com.sun.tools.javac.launcher.Main" },
		{ "", "Main", "" },
	};
	const char *name;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		len = launch_name(cases[i].command, cases[i].line_name, &name);
		ASSERT_INT(len, strlen(cases[i].name));
		CU_ASSERT_NSTRING_EQUAL(name, cases[i].name, len);
	}
}

static void the_jvm_remembers_its_main_class(void)
{
	command = "com.example.Main a b";
	launch_main_class(self, &hotspot, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "com.example.Main");
	command = "com.ex\xff\x1bmple.Main a b";
	launch_main_class(self, &hotspot, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "com.ex\xef\xbf\xbd\xef\xbf\xbdmple.Main");
}

static void of_a_long_command_the_start_is_enough(void)
{
	static char text[10000];

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "Main ", 5);
	command = text;
	launch_main_class(self, &hotspot, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "Main");
}

static void the_jvm_remembers_its_options(void)
{
	options[0] = "-Xmx1g";
	options[1] = "-Djdk.module.path=/a:/b";
	options[2] = "--add-opens=a/b=c";
	count = OPTIONS;
	launch_arguments(self, &hotspot, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "-Xmx1g --add-opens=a/b=c");
	launch_arguments(self, &hotspot, to, 20);
	CU_ASSERT_STRING_EQUAL(to, "-Xmx1g  [truncated]");
	count = 0;
	launch_arguments(self, &hotspot, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "");
}

static void options_that_cannot_be_read_are_marked(void)
{
	options[0] = "-Xmx1g";
	options[1] = (const char *)(uintptr_t)8;
	count = OPTIONS;
	launch_arguments(self, &hotspot, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "-Xmx1g [truncated]");
}

static void options_without_end_are_marked(void)
{
	static char text[50000];

	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < OPTIONS; i++)
		options[i] = text;
	count = OPTIONS;
	launch_arguments(self, &hotspot, to, sizeof(to));
	ASSERT_INT(strlen(to), CMDLINE_MAX - 1);
	CU_ASSERT_STRING_EQUAL(to + strlen(to) - 12, " [truncated]");
}

/* Our own command line: one word, and no options. */
static void without_the_jvms_word_the_command_line_is_taken(void)
{
	static const struct {
		const char *command;
		int count;
	} none[] = { { NULL, -1 }, { "", 5000 }, { (const char *)(uintptr_t)8, 1 << 30 } };

	options[0] = "-Xmx1g";
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		command = none[i].command;
		count = none[i].count;
		launch_main_class(self, &hotspot, to, sizeof(to));
		CU_ASSERT_STRING_EQUAL(to, "");
		launch_arguments(self, &hotspot, to, sizeof(to));
		CU_ASSERT_STRING_EQUAL(to, "");
	}
	count = 1;
	array = NULL;
	launch_arguments(self, &hotspot, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "");
	launch_arguments(self, NULL, to, sizeof(to));
	CU_ASSERT_STRING_EQUAL(to, "");
}

static CU_TestInfo tests[] = {
	{ "the name is where the command begins", the_name_is_where_the_command_begins },
	{ "the JVM remembers its main class", the_jvm_remembers_its_main_class },
	{ "of a long command the start is enough", of_a_long_command_the_start_is_enough },
	{ "the JVM remembers its options", the_jvm_remembers_its_options },
	{ "options that cannot be read are marked", options_that_cannot_be_read_are_marked },
	{ "options without end are marked", options_without_end_are_marked },
	{ "without the JVM's word the command line is taken",
	  without_the_jvms_word_the_command_line_is_taken },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_launch_suite = {
	.pName = "jvm launch",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
