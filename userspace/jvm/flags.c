/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/strings.h"
#include "target/target.h"

#define FLAGS_MAX 8192 /* 1,600 is the largest seen */

static const struct {
	const char *flag;
	const char *name;
} collectors[] = {
	{ "UseG1GC", "G1" },
	{ "UseParallelGC", "Parallel" },
	{ "UseSerialGC", "Serial" },
	{ "UseZGC", "ZGC" },
	{ "UseShenandoahGC", "Shenandoah" },
	{ "UseEpsilonGC", "Epsilon" },
	{ "UseConcMarkSweepGC", "CMS" },
};

/* The table of flags as it is in the target, with its names. */
struct flags {
	uint8_t *bytes; /* owned */
	size_t stride;
	size_t count;
	struct strings names; /* owned */
};

static uint64_t flag_word(const struct flags *flags, size_t flag, struct field f)
{
	return field_of(f, flags->bytes + flag * flags->stride, flags->stride);
}

static int read_names(const struct target *t, const struct hotspot *h, struct flags *flags)
{
	uint64_t *addresses = calloc(flags->count + 1, sizeof(*addresses));
	int err;

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < flags->count; i++)
		addresses[i] = flag_word(flags, i, h->field.flag_name);
	err = strings_read(t, addresses, flags->count, &flags->names);
	free(addresses);
	return err;
}

static int read_flags(const struct target *t, const struct hotspot *h, struct flags *out)
{
	struct flags flags = { .stride = h->flag_bytes };
	uint64_t array, count;
	int err;

	if (!h->flag_bytes || field_read(t, 0, h->field.flags, &array) ||
	    field_read(t, 0, h->field.flag_count, &count) || count > FLAGS_MAX)
		return -ENOENT;
	flags.count = count;
	flags.bytes = malloc(count * flags.stride + 1);
	if (!flags.bytes)
		return -ENOMEM;
	err = target_read(t, array, flags.bytes, count * flags.stride);
	if (!err)
		err = read_names(t, h, &flags);
	if (err) {
		free(flags.bytes);
		return err;
	}
	*out = flags;
	return 0;
}

static bool is_set(const struct target *t, const struct hotspot *h, const struct flags *flags,
		   const char *name)
{
	const char *found;
	uint8_t value;

	for (size_t i = 0; i < flags->count; i++) {
		found = strings_get(&flags->names, flag_word(flags, i, h->field.flag_name));
		if (!found || strcmp(found, name) != 0)
			continue;
		return !target_read(t, flag_word(flags, i, h->field.flag_address), &value, 1) &&
		       value;
	}
	return false;
}

const char *flags_gc_name(const struct target *t, const struct hotspot *h, int major)
{
	/* JDK 8 takes the serial collector where nothing is set, and sets nothing. */
	const char *name = major <= 8 ? "Serial" : "";
	struct flags flags;

	if (read_flags(t, h, &flags))
		return "";
	for (size_t i = 0; i < sizeof(collectors) / sizeof(*collectors); i++) {
		if (!is_set(t, h, &flags, collectors[i].flag))
			continue;
		name = collectors[i].name;
		break;
	}
	free(flags.bytes);
	strings_free(&flags.names);
	return name;
}

int flags_read(const struct target *t, const struct hotspot *h, const char *const *names,
	       size_t count, bool *set)
{
	struct flags flags;
	int err;

	err = read_flags(t, h, &flags);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		set[i] = is_set(t, h, &flags, names[i]);
	free(flags.bytes);
	strings_free(&flags.names);
	return 0;
}
