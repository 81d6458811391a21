/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_SETTINGS_H
#define JVMSCOPE_MODEL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

/* What a JVM runs with: flags (-XX), system properties, and facts that follow from them. */
enum rec_setting_kind { REC_SETTING_FLAG, REC_SETTING_PROPERTY, REC_SETTING_FACT };

/* The type of the value, as JFR tells flags apart. */
enum rec_setting_type {
	REC_SETTING_BOOL, /* "true" or "false" */
	REC_SETTING_INT,
	REC_SETTING_UNSIGNED_INT,
	REC_SETTING_LONG,
	REC_SETTING_UNSIGNED_LONG,
	REC_SETTING_DOUBLE,
	REC_SETTING_TEXT,
	REC_SETTING_TYPES,
};

struct rec_setting {
	uint32_t jvm;
	uint32_t kind; /* enum rec_setting_kind */
	uint32_t name; /* string id: "MaxHeapSize" */
	/* The key ends here. */
	uint32_t type;	 /* enum rec_setting_type */
	uint32_t value;	 /* string id, also of numbers: decimal */
	uint32_t origin; /* string id: "Command line"; 0 of what is no flag */
};

#define REC_MAX_SETTINGS (1u << 17) /* 100 of a JVM, as we record it; 800 in its own recording */

/* Adds one, or changes the one with its JVM, kind and name. */
void rec_setting_set(struct recording *rec, const struct rec_setting *setting);

/* In order of first sight; ids are 1..count. NULL for 0. */
uint32_t rec_setting_count(const struct recording *rec);
const struct rec_setting *rec_setting_get(const struct recording *rec, uint32_t id);

/* One by its name, and its value; NULL when it is not there. Valid until the next add. */
const struct rec_setting *rec_setting_find(const struct recording *rec, uint32_t jvm,
					   enum rec_setting_kind kind, const char *name);
const char *rec_setting_value(const struct recording *rec, uint32_t jvm, enum rec_setting_kind kind,
			      const char *name);

/* "flag", "property", "fact"; "bool", "int", "unsigned_int" ... -1 for a name that is none. */
const char *rec_setting_kind_name(enum rec_setting_kind kind);
const char *rec_setting_type_name(enum rec_setting_type type);
int rec_setting_kind_find(const char *name);
int rec_setting_type_find(const char *name);

#endif
