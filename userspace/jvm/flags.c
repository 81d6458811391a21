/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/flags.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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
	uint64_t *addresses = calloc(2 * flags->count + 1, sizeof(*addresses));
	int err;

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < flags->count; i++) {
		addresses[2 * i] = flag_word(flags, i, h->field.flag_name);
		/* To 11 the type is a name, too. */
		if (h->field.flag_type.size == sizeof(uint64_t))
			addresses[2 * i + 1] = flag_word(flags, i, h->field.flag_type);
	}
	err = strings_read(t, addresses, 2 * flags->count, &flags->names);
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

/* ---- what they say */

#define ORIGIN_MASK 15
#define TEXT_MAX    1024

static const struct {
	const char *name;
	uint8_t size; /* bytes; 0: a text */
	bool is_signed;
} types[FLAG_TYPES] = {
	[FLAG_BOOL] = { "bool", 1, false },   [FLAG_INT] = { "int", 4, true },
	[FLAG_UINT] = { "uint", 4, false },   [FLAG_INTX] = { "intx", 8, true },
	[FLAG_UINTX] = { "uintx", 8, false }, [FLAG_UINT64] = { "uint64_t", 8, false },
	[FLAG_SIZE] = { "size_t", 8, false }, [FLAG_DOUBLE] = { "double", 8, false },
	[FLAG_TEXT] = { "ccstr", 0, false },  [FLAG_TEXTS] = { "ccstrlist", 0, false },
};

static const char *const origins[] = {
	"Default",    "Command line", "Environment variable", "Config file",
	"Management", "Ergonomic",    "Attach on demand",     "Internal",
};

/* Those that JFR's events of the configuration are made of. */
static const char *const told[] = {
	"CICompilerCount",
	"CodeCacheExpansionSize",
	"CodeCacheMinBlockLength",
	"ConcGCThreads",
	"DisableExplicitGC",
	"ExplicitGCInvokesConcurrent",
	"GCTimeRatio",
	"InitialCodeCacheSize",
	"InitialHeapSize",
	"InitialTenuringThreshold",
	"MaxGCPauseMillis",
	"MaxHeapSize",
	"MaxNewSize",
	"MaxTenuringThreshold",
	"MinHeapSize",
	"MinTLABSize",
	"NewRatio",
	"NewSize",
	"NonNMethodCodeHeapSize",
	"NonProfiledCodeHeapSize",
	"ObjectAlignmentInBytes",
	"ParallelGCThreads",
	"ProfiledCodeHeapSize",
	"ReservedCodeCacheSize",
	"TLABRefillWasteFraction",
	"TieredCompilation",
	"UseCompressedClassPointers",
	"UseCompressedOops",
	"UseDynamicNumberOfCompilerThreads",
	"UseDynamicNumberOfGCThreads",
	"UseTLAB",
	"ZGenerational",
};

static bool is_told(const char *name)
{
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		if (!strcmp(told[i], name))
			return true;
	return false;
}

static enum flag_type type_of(const struct hotspot *h, const struct flags *flags, size_t i)
{
	uint64_t word = flag_word(flags, i, h->field.flag_type);
	const char *name;

	if (h->field.flag_type.size != sizeof(uint64_t))
		return word < FLAG_TYPES ? (enum flag_type)word : FLAG_TYPES;
	name = strings_get(&flags->names, word);
	for (int type = 0; name && type < FLAG_TYPES; type++)
		if (!strcmp(types[type].name, name))
			return (enum flag_type)type;
	return FLAG_TYPES;
}

static int read_text(const struct target *t, uint64_t at, char *to, size_t size)
{
	uint64_t text;
	ssize_t len;

	if (target_read_u64(t, at, &text))
		return -EFAULT;
	*to = 0;
	if (!text)
		return 0;
	len = target_read_string(t, text, to, size);
	return len < 0 ? (int)len : 0;
}

/* The value of a flag as text. Returns 0 or a negative errno. */
static int read_value(const struct target *t, enum flag_type type, uint64_t at, char *to,
		      size_t size)
{
	uint64_t bits = 0;
	double number;
	int err;

	if (!types[type].size)
		return read_text(t, at, to, size);
	err = target_read(t, at, &bits, types[type].size);
	if (err)
		return err;
	if (type == FLAG_BOOL) {
		snprintf(to, size, "%s", bits ? "true" : "false");
	} else if (type == FLAG_DOUBLE) {
		memcpy(&number, &bits, sizeof(number));
		snprintf(to, size, "%.17g", number);
	} else if (types[type].is_signed) {
		snprintf(to, size, "%" PRId64,
			 types[type].size == 4 ? (int32_t)bits : (int64_t)bits);
	} else {
		snprintf(to, size, "%" PRIu64, bits);
	}
	return 0;
}

/* The flag at a place of the table, if it is to be told of. value is where its text goes. */
static bool read_flag(const struct target *t, const struct hotspot *h, const struct flags *flags,
		      size_t i, char value[TEXT_MAX], struct flag *out)
{
	uint64_t origin = flag_word(flags, i, h->field.flag_bits) & ORIGIN_MASK;
	const char *name = strings_get(&flags->names, flag_word(flags, i, h->field.flag_name));
	enum flag_type type = type_of(h, flags, i);

	if (!name || type == FLAG_TYPES || (!origin && !is_told(name)) ||
	    read_value(t, type, flag_word(flags, i, h->field.flag_address), value, TEXT_MAX))
		return false;
	*out = (struct flag){ .name = name,
			      .type = type,
			      .value = value,
			      .origin = origin < sizeof(origins) / sizeof(*origins)
						? origins[origin]
						: "Internal" };
	return true;
}

int flags_each(const struct target *t, const struct hotspot *h, flag_fn *found, void *ctx)
{
	char value[TEXT_MAX];
	struct flags flags;
	struct flag flag;
	size_t count = 0;
	int err;

	if (!field_exists(h->field.flag_bits) || !field_exists(h->field.flag_type))
		return -ENOENT;
	err = read_flags(t, h, &flags);
	if (err)
		return err;
	for (size_t i = 0; i < flags.count && count < FLAGS_TOLD_MAX; i++) {
		if (!read_flag(t, h, &flags, i, value, &flag))
			continue;
		found(&flag, ctx);
		count++;
	}
	free(flags.bytes);
	strings_free(&flags.names);
	return 0;
}
