/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/settings.h"

/*
 * What JVMs run with: once in each chunk as jvmscope.Setting, which says all, and as the JDK's
 * events, which follow from it.
 */

#define FIELDS_MAX 9

/* ---- events of the JDK that follow from flags */

enum kind {
	NO_FIELD,
	AS_BOOLEAN,
	AS_BYTE,
	AS_INT,
	AS_LONG,
	AS_CHOSEN,    /* the same; not known where it is the default */
	AS_FACT,      /* a long */
	AS_GC_YOUNG,  /* a collector's name */
	AS_GC_OLD,    /* the same */
	AS_OOP_MODE,  /* how references are made short */
	AS_HEAP_BITS, /* a byte: how long addresses in the heap are */
};

struct field {
	enum kind kind;
	const char *name; /* of the flag */
};

static const struct configuration {
	enum jfr_type_id type;
	struct field fields[FIELDS_MAX];
} configurations[] = {
	{ .type = JFR_GC_CONFIGURATION,
	  .fields = { { AS_GC_YOUNG, NULL },
		      { AS_GC_OLD, NULL },
		      { AS_INT, "ParallelGCThreads" },
		      { AS_INT, "ConcGCThreads" },
		      { AS_BOOLEAN, "UseDynamicNumberOfGCThreads" },
		      { AS_BOOLEAN, "ExplicitGCInvokesConcurrent" },
		      { AS_BOOLEAN, "DisableExplicitGC" },
		      { AS_CHOSEN, "MaxGCPauseMillis" },
		      { AS_INT, "GCTimeRatio" } } },
	{ .type = JFR_GC_HEAP_CONFIGURATION,
	  .fields = { { AS_LONG, "MinHeapSize" },
		      { AS_LONG, "MaxHeapSize" },
		      { AS_LONG, "InitialHeapSize" },
		      { AS_BOOLEAN, "UseCompressedOops" },
		      { AS_OOP_MODE, NULL },
		      { AS_LONG, "ObjectAlignmentInBytes" },
		      { AS_HEAP_BITS, NULL } } },
	{ .type = JFR_YOUNG_GENERATION_CONFIGURATION,
	  .fields = { { AS_LONG, "NewSize" },
		      { AS_CHOSEN, "MaxNewSize" },
		      { AS_INT, "NewRatio" } } },
	{ .type = JFR_GC_SURVIVOR_CONFIGURATION,
	  .fields = { { AS_BYTE, "MaxTenuringThreshold" },
		      { AS_BYTE, "InitialTenuringThreshold" } } },
	{ .type = JFR_GC_TLAB_CONFIGURATION,
	  .fields = { { AS_BOOLEAN, "UseTLAB" },
		      { AS_LONG, "MinTLABSize" },
		      { AS_LONG, "TLABRefillWasteFraction" } } },
	{ .type = JFR_COMPILER_CONFIGURATION,
	  .fields = { { AS_INT, "CICompilerCount" },
		      { AS_BOOLEAN, "TieredCompilation" },
		      { AS_BOOLEAN, "UseDynamicNumberOfCompilerThreads" } } },
	{ .type = JFR_CODE_CACHE_CONFIGURATION,
	  .fields = { { AS_LONG, "InitialCodeCacheSize" },
		      { AS_LONG, "ReservedCodeCacheSize" },
		      { AS_LONG, "NonNMethodCodeHeapSize" },
		      { AS_LONG, "ProfiledCodeHeapSize" },
		      { AS_LONG, "NonProfiledCodeHeapSize" },
		      { AS_LONG, "CodeCacheExpansionSize" },
		      { AS_LONG, "CodeCacheMinBlockLength" },
		      { AS_FACT, "code_cache_start" },
		      { AS_FACT, "code_cache_end" } } },
};

struct jvm {
	const struct recording *rec;
	uint32_t id;
};

static const char *value_of(const struct jvm *jvm, enum rec_setting_kind kind, const char *name)
{
	return rec_setting_value(jvm->rec, jvm->id, kind, name);
}

static bool is_set(const struct jvm *jvm, const char *flag)
{
	const char *value = value_of(jvm, REC_SETTING_FLAG, flag);

	return value && !strcmp(value, "true");
}

/* 64 bits, whatever the sign: a number of a file may be any. */
static uint64_t number_of(const char *value)
{
	return *value == '-' ? (uint64_t)strtoll(value, NULL, 10) : strtoull(value, NULL, 10);
}

static uint64_t fact(const struct jvm *jvm, const char *name)
{
	const char *value = value_of(jvm, REC_SETTING_FACT, name);

	return value ? number_of(value) : 0;
}

/* As jdk.GCConfiguration calls them. ZGC of 17 to 23 and Shenandoah have one generation. */
static const char *collector_of(const struct jvm *jvm, bool young)
{
	static const struct {
		const char *gc, *young, *old;
	} collectors[] = {
		{ "G1", "G1New", "G1Old" },
		{ "Parallel", "ParallelScavenge", "ParallelOld" },
		{ "Serial", "DefNew", "SerialOld" },
		{ "CMS", "ParNew", "ConcurrentMarkSweep" },
		{ "Shenandoah", "N/A", "Shenandoah" },
	};
	const struct rec_jvm *row = rec_jvm_get(jvm->rec, jvm->id);
	const char *gc = row ? rec_text(jvm->rec, row->gc_name) : "";

	for (size_t i = 0; i < sizeof(collectors) / sizeof(*collectors); i++)
		if (!strcmp(collectors[i].gc, gc))
			return young ? collectors[i].young : collectors[i].old;
	if (strcmp(gc, "ZGC") != 0)
		return "";
	if (row->major >= 24 || is_set(jvm, "ZGenerational"))
		return young ? "ZGC Minor" : "ZGC Major";
	return young ? "N/A" : "Z";
}

/* The modes in which HotSpot makes references of 32 bits to addresses. */
static const char *oop_mode(const struct jvm *jvm)
{
	uint64_t base = fact(jvm, "narrow_oop_base"), shift = fact(jvm, "narrow_oop_shift");

	/* Also of a JVM that does not: so says its own event. */
	if (!value_of(jvm, REC_SETTING_FACT, "narrow_oop_shift"))
		return "";
	if (!base)
		return shift ? "Zero based" : "32-bit";
	/* Where the base has no bit that a shifted reference may have. */
	return base << (32 - shift % 32) ? "Non-zero based" : "Non-zero disjoint base";
}

static bool is_default(const struct jvm *jvm, const char *flag)
{
	const struct rec_setting *row = rec_setting_find(jvm->rec, jvm->id, REC_SETTING_FLAG, flag);

	return !row || !strcmp(rec_text(jvm->rec, row->origin), "Default");
}

static void put_field(struct jfr_writer *w, const struct jvm *jvm, const struct field *field)
{
	const char *value =
		field->name ? value_of(jvm,
				       field->kind == AS_FACT ? REC_SETTING_FACT : REC_SETTING_FLAG,
				       field->name)
			    : NULL;

	switch (field->kind) {
	case NO_FIELD:
		break;
	case AS_BOOLEAN:
		jfr_put_byte(&w->bytes, is_set(jvm, field->name));
		break;
	case AS_BYTE:
		jfr_put_byte(&w->bytes, value ? (uint8_t)number_of(value) : 0);
		break;
	case AS_INT:
		jfr_put_int(&w->bytes, value ? (int32_t)number_of(value) : 0);
		break;
	case AS_CHOSEN:
		if (value && is_default(jvm, field->name))
			value = NULL;
		/* fallthrough */
	case AS_LONG:
	case AS_FACT:
		jfr_put_long(&w->bytes, value ? number_of(value) : (uint64_t)JFR_NOT_KNOWN);
		break;
	case AS_GC_YOUNG:
	case AS_GC_OLD:
		jfr_put_long(&w->bytes,
			     jfr_pools_word(w->pools, JFR_GC_NAME,
					    collector_of(jvm, field->kind == AS_GC_YOUNG)));
		break;
	case AS_OOP_MODE:
		jfr_put_long(&w->bytes,
			     jfr_pools_word(w->pools, JFR_NARROW_OOP_MODE, oop_mode(jvm)));
		break;
	case AS_HEAP_BITS:
		jfr_put_byte(&w->bytes, is_set(jvm, "UseCompressedOops") ? 32 : 64);
		break;
	}
}

static void put_configuration(struct jfr_writer *w, const struct jvm *jvm,
			      const struct configuration *configuration)
{
	size_t at = jfr_begin(w, configuration->type, w->start_ns);

	for (size_t i = 0; i < FIELDS_MAX; i++)
		put_field(w, jvm, &configuration->fields[i]);
	jfr_end_event(&w->bytes, at);
}

/* ---- flags and properties */

static void put_flag(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_setting *setting)
{
	static const enum jfr_type_id events[REC_SETTING_TYPES] = {
		[REC_SETTING_BOOL] = JFR_BOOLEAN_FLAG,
		[REC_SETTING_INT] = JFR_INT_FLAG,
		[REC_SETTING_UNSIGNED_INT] = JFR_UNSIGNED_INT_FLAG,
		[REC_SETTING_LONG] = JFR_LONG_FLAG,
		[REC_SETTING_UNSIGNED_LONG] = JFR_UNSIGNED_LONG_FLAG,
		[REC_SETTING_DOUBLE] = JFR_DOUBLE_FLAG,
		[REC_SETTING_TEXT] = JFR_STRING_FLAG,
	};
	enum rec_setting_type type = (enum rec_setting_type)setting->type;
	const char *value = rec_text(rec, setting->value);
	size_t at = jfr_begin(w, events[type], w->start_ns);

	jfr_put_text(&w->bytes, rec_text(rec, setting->name));
	switch (type) {
	case REC_SETTING_BOOL:
		jfr_put_byte(&w->bytes, !strcmp(value, "true"));
		break;
	case REC_SETTING_INT:
	case REC_SETTING_UNSIGNED_INT:
		jfr_put_int(&w->bytes, (int32_t)number_of(value));
		break;
	case REC_SETTING_LONG:
	case REC_SETTING_UNSIGNED_LONG:
		jfr_put_long(&w->bytes, number_of(value));
		break;
	case REC_SETTING_DOUBLE:
		jfr_put_double(&w->bytes, strtod(value, NULL));
		break;
	case REC_SETTING_TEXT:
	case REC_SETTING_TYPES:
		jfr_put_text(&w->bytes, value);
		break;
	}
	jfr_put_long(&w->bytes, jfr_pools_word(w->pools, JFR_FLAG_VALUE_ORIGIN,
					       rec_text(rec, setting->origin)));
	jfr_end_event(&w->bytes, at);
}

static void put_property(struct jfr_writer *w, const struct recording *rec,
			 const struct rec_setting *setting)
{
	size_t at = jfr_begin(w, JFR_INITIAL_SYSTEM_PROPERTY, w->start_ns);

	jfr_put_text(&w->bytes, rec_text(rec, setting->name));
	jfr_put_text(&w->bytes, rec_text(rec, setting->value));
	jfr_end_event(&w->bytes, at);
}

static void put_setting(struct jfr_writer *w, const struct recording *rec,
			const struct rec_setting *setting)
{
	size_t at = jfr_begin(w, JFR_SETTING, w->start_ns);

	jfr_put_long(&w->bytes, jfr_pid_of(rec, setting->jvm));
	jfr_put_long(&w->bytes,
		     jfr_pools_name(w->pools,
				    rec_setting_kind_name((enum rec_setting_kind)setting->kind)));
	jfr_put_text(&w->bytes, rec_text(rec, setting->name));
	jfr_put_long(&w->bytes,
		     jfr_pools_name(w->pools,
				    rec_setting_type_name((enum rec_setting_type)setting->type)));
	jfr_put_text(&w->bytes, rec_text(rec, setting->value));
	jfr_put_long(&w->bytes, jfr_pools_name(w->pools, rec_text(rec, setting->origin)));
	jfr_end_event(&w->bytes, at);
	if (setting->kind == REC_SETTING_FLAG)
		put_flag(w, rec, setting);
	if (setting->kind == REC_SETTING_PROPERTY)
		put_property(w, rec, setting);
}

void jfr_put_settings(struct jfr_writer *w, const struct recording *rec)
{
	uint32_t count = rec_setting_count(rec);
	struct jvm jvm = { .rec = rec };

	for (uint32_t id = w->settings + 1; id <= count; id++) {
		const struct rec_setting *setting = rec_setting_get(rec, id);

		put_setting(w, rec, setting);
		/* Flags of a JVM come all at once. */
		if (setting->kind != REC_SETTING_FLAG || setting->jvm == jvm.id)
			continue;
		jvm.id = setting->jvm;
		for (size_t i = 0; i < sizeof(configurations) / sizeof(*configurations); i++)
			put_configuration(w, &jvm, &configurations[i]);
	}
	w->settings = count;
}
