/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "jvm/perfdata.h"

#define TEXT_MAX 64

static void check(const struct perfdata *data, const struct perfdata_entry *entry)
{
	const char *name = (const char *)data->bytes + entry->name;
	char text[TEXT_MAX];
	int64_t value;

	FUZZ_ASSERT(entry->name < data->size && entry->value <= data->size);
	FUZZ_ASSERT(memchr(name, 0, data->size - entry->name) != NULL);
	FUZZ_ASSERT(perfdata_find(data, name) != NULL);
	FUZZ_ASSERT(perfdata_number(data, entry, &value) == !entry->length);
	FUZZ_ASSERT(perfdata_text(data, entry, text, sizeof(text)) == !!entry->length);
	FUZZ_ASSERT(strlen(text) < sizeof(text));
}

/* Counters of a JVM. Bytes that change behind the entries' back are of the same size. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct perfdata data = { 0 };
	char text[TEXT_MAX];
	int64_t value;

	if (!copy)
		return 0;
	memcpy(copy, bytes, size);
	if (size >= PERFDATA_MIN)
		perfdata_used(copy);
	if (!perfdata_parse(copy, (uint32_t)size, &data)) {
		for (uint32_t i = 0; i < data.count; i++)
			check(&data, &data.entries[i]);
		memset(copy, 'x', size);
		for (uint32_t i = 0; i < data.count; i++) {
			perfdata_number(&data, &data.entries[i], &value);
			perfdata_text(&data, &data.entries[i], text, sizeof(text));
		}
		perfdata_find(&data, "java.threads.live");
	}
	perfdata_free(&data);
	free(copy);
	return 0;
}
