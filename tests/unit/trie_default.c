/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie_default.h"

#include "trie/trie_index.h"
#include "trie/trie_walk.h"
#include "trie_help.h"

static void knows_libraries_and_applications(void)
{
	static const struct {
		const char *name;
		int number;
	} cases[] = {
		{ "java/lang/String", 1 },
		{ "java.util.concurrent.ThreadPoolExecutor$Worker", 1 },
		{ "jdk/internal/misc/Unsafe", 1 },
		{ "jdk/proxy2/$Proxy12", 1 },
		{ "com/sun/proxy/$Proxy12", 1 },
		{ "sun/nio/ch/EPoll", 1 },
		{ "org/springframework/web/servlet/DispatcherServlet", 1 },
		{ "org/springframework/samples/petclinic/PetClinicApplication", 0 },
		{ "io/netty/channel/nio/NioEventLoop", 1 },
		{ "org/apache/catalina/connector/CoyoteAdapter", 1 },
		{ "com/fasterxml/jackson/databind/ObjectMapper", 1 },
		{ "org/hibernate/internal/SessionImpl", 1 },
		{ "org/postgresql/jdbc/PgConnection", 1 },
		{ "com/google/common/collect/ImmutableList", 1 },
		{ "scala/collection/immutable/List", 1 },
		{ "org/apache/kafka/clients/consumer/KafkaConsumer", 1 },
		{ "org/apache/kafka/common/utils/Utils", 1 },
		{ "kafka/server/KafkaServer", -1 },
		{ "com/example/Main", -1 },
		{ "com/sunshine/Main", -1 },
		{ "com/google/samples/App", -1 },
		{ "javac/Main", -1 },
		{ "java", -1 },
		{ "Main", -1 },
		{ "Main$$Lambda+0x0000000058040210", -1 },
		{ "", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(trie_find(&trie_default, cases[i].name, strlen(cases[i].name), 0),
			   cases[i].number);
}

struct outer {
	uint16_t key[64];
	size_t len;
	uint32_t number;
};

/* Every rule is for a package, and says something that no rule above it says. */
static int check_key(const uint16_t *key, size_t len, uint32_t number, void *ctx)
{
	struct outer *outer = ctx;

	CU_ASSERT(number == TRIE_GLOB || number == (TRIE_GLOB | 1));
	CU_ASSERT(key[len - 1] == '.');
	CU_ASSERT_FATAL(len < ARRAY_SIZE(outer->key));
	if (outer->len && outer->len < len && !memcmp(outer->key, key, outer->len * 2)) {
		CU_ASSERT(number != outer->number);
		return 0;
	}
	CU_ASSERT(number & 1);
	memcpy(outer->key, key, len * 2);
	outer->len = len;
	outer->number = number;
	return 0;
}

static void every_rule_says_something(void)
{
	struct outer outer = { .len = 0 };
	struct trie_visitor visitor = { .key = check_key, .ctx = &outer };
	struct trie_walk_end end;

	ASSERT_INT(trie_walk(&trie_default, &visitor, &end), 0);
	CU_ASSERT(end.keys > 300);
}

static void has_an_index(void)
{
	struct trie_index made;

	ASSERT_INT(trie_index_build(&trie_default, &made), 0);
	CU_ASSERT(trie_index_size(&made) <= 65536);
	ASSERT_INT(trie_index_find(&made, "java/lang/String", 16, 0), 1);
	trie_index_free(&made);
}

static CU_TestInfo tests[] = {
	{ "knows libraries and applications", knows_libraries_and_applications },
	{ "every rule says something", every_rule_says_something },
	{ "has an index", has_an_index },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo trie_default_suite = {
	.pName = "trie_default",
	.pTests = tests,
};
