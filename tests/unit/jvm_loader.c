/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "jvm/loader.h"
#include "unit/jvm_fake.h"
#include "unit/unit.h"

/* A Symbol as JDK 11 and later have it. */
struct symbol {
	uint8_t bytes[64];
};

static struct target *self;
static struct hotspot hotspot;
static struct symbol app, platform;
static _Alignas(8) uint8_t loaders[3][256];
static const void *head;

static void make_symbol(struct symbol *symbol, const char *text)
{
	struct fields *f = &hotspot.field;

	if (field_exists(f->symbol_length))
		fake_put(symbol->bytes, f->symbol_length, strlen(text));
	else
		fake_put(symbol->bytes, f->symbol_length_and_refcount, strlen(text) << 16);
	memcpy(symbol->bytes + f->symbol_body.at, text, strlen(text));
}

/* Two loaders whose names are that many words behind _next; the first has another name. */
static void make_jvm(int jdk, unsigned int words)
{
	struct field *next = &hotspot.field.loader_next;

	ASSERT_INT(fake_hotspot(self, jdk, &hotspot), 0);
	memset(loaders, 0, sizeof(loaders));
	memset(&app, 0, sizeof(app));
	memset(&platform, 0, sizeof(platform));
	make_symbol(&app, "'app'");
	make_symbol(&platform, "'platform'");
	*next = (struct field){ .at = 112, .size = 8 };
	hotspot.field.loader_head = (struct field){ .at = fake_address(&head), .size = 8 };
	hotspot.field.klass_layout_helper = (struct field){ .at = 8, .size = 4 };
	hotspot.field.klass_loader = (struct field){ .at = 152, .size = 8 };
	head = loaders[0];
	fake_put(loaders[0], *next, fake_address(loaders[1]));
	fake_put(loaders[0], (struct field){ .at = 112 + 8 * words, .size = 8 },
		 fake_address(&app));
	fake_put(loaders[1], (struct field){ .at = 112 + 8 * words, .size = 8 },
		 fake_address(&platform));
}

static void setup(void)
{
	ASSERT_INT(target_open(getpid(), &self), 0);
}

static void teardown(void)
{
	target_close(self);
}

static void the_place_of_loaders_is_found_by_the_platform_loader(void)
{
	static const struct {
		int jdk;
		unsigned int words;
	} cases[] = { { 11, 3 }, { 17, 3 }, { 21, 4 }, { 25, 4 }, { 28, 4 } };
	struct jvs_class_layout layout;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make_jvm(cases[i].jdk, cases[i].words);
		ASSERT_INT(loader_layout(self, &hotspot, &layout), 0);
		ASSERT_INT(layout.ready, 1);
		ASSERT_INT(layout.loader_name_and_id, 112 + 8 * cases[i].words);
		ASSERT_INT(layout.loader_klass, 112 + 8 * cases[i].words - 16);
	}
}

static void until_there_is_one_the_rest_is_known(void)
{
	struct jvs_class_layout layout;

	make_jvm(17, 3);
	head = NULL;
	ASSERT_INT(loader_layout(self, &hotspot, &layout), -EAGAIN);
	ASSERT_INT(layout.ready, 1);
	ASSERT_INT(layout.loader_klass, JVS_NO_FIELD);
	ASSERT_INT(layout.klass_cld, 152);
}

static void a_list_that_goes_in_circles_ends(void)
{
	struct jvs_class_layout layout;

	make_jvm(17, 3);
	fake_put(loaders[0], hotspot.field.loader_next, fake_address(loaders[0]));
	ASSERT_INT(loader_layout(self, &hotspot, &layout), -EAGAIN);
}

static void a_jvm_that_does_not_say_is_refused(void)
{
	struct jvs_class_layout layout = { .ready = 7 };

	make_jvm(17, 3);
	hotspot.field.klass_loader.size = 0;
	ASSERT_INT(loader_layout(self, &hotspot, &layout), -ENOENT);
	ASSERT_INT(layout.ready, 7);
}

static void a_symbol_is_cut_at_the_buffer(void)
{
	struct jvs_class_layout layout;
	char text[5];

	make_jvm(17, 3);
	ASSERT_INT(loader_layout(self, &hotspot, &layout), 0);
	ASSERT_INT(loader_symbol(self, &layout, fake_address(&platform), text, sizeof(text)), 10);
	CU_ASSERT_STRING_EQUAL(text, "'pla");
	ASSERT_INT(loader_symbol(self, &layout, 8, text, sizeof(text)), -EFAULT);
}

static CU_TestInfo tests[] = {
	{ "the place of loaders is found by the platform loader",
	  the_place_of_loaders_is_found_by_the_platform_loader },
	{ "until there is one the rest is known", until_there_is_one_the_rest_is_known },
	{ "a list that goes in circles ends", a_list_that_goes_in_circles_ends },
	{ "a JVM that does not say is refused", a_jvm_that_does_not_say_is_refused },
	{ "a symbol is cut at the buffer", a_symbol_is_cut_at_the_buffer },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_loader_suite = {
	.pName = "jvm/loader",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
