/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILL_SETTINGS_H
#define JVMSCOPE_JFR_FILL_SETTINGS_H

#include "jfr/jfr_chunk.h"

/*
 * What JVMs run with: ours, and the flags and properties of files that are not ours. ctx is a
 * struct jfr_filler.
 */
void jfr_fill_setting(void *ctx, const struct jfr_item *e);
void jfr_fill_boolean_flag(void *ctx, const struct jfr_item *e);
void jfr_fill_int_flag(void *ctx, const struct jfr_item *e);
void jfr_fill_unsigned_int_flag(void *ctx, const struct jfr_item *e);
void jfr_fill_long_flag(void *ctx, const struct jfr_item *e);
void jfr_fill_unsigned_long_flag(void *ctx, const struct jfr_item *e);
void jfr_fill_double_flag(void *ctx, const struct jfr_item *e);
void jfr_fill_string_flag(void *ctx, const struct jfr_item *e);
void jfr_fill_system_property(void *ctx, const struct jfr_item *e);

/* Their places in the list of wants, and the rows there. */
#define JFR_FILL_SETTING_PLACES                                                                 \
	JFR_FILL_SETTING, JFR_FILL_BOOLEAN_FLAG, JFR_FILL_INT_FLAG, JFR_FILL_UNSIGNED_INT_FLAG, \
		JFR_FILL_LONG_FLAG, JFR_FILL_UNSIGNED_LONG_FLAG, JFR_FILL_DOUBLE_FLAG,          \
		JFR_FILL_STRING_FLAG, JFR_FILL_SYSTEM_PROPERTY

#define JFR_FILL_SETTING_ROWS                                                                  \
	[JFR_FILL_SETTING] = { .type = "jvmscope.Setting",                                     \
			       .fields = { "pid", "kind", "name", "type", "value", "origin" }, \
			       .on_event = jfr_fill_setting,                                   \
			       .late = true },                                                 \
	[JFR_FILL_BOOLEAN_FLAG] = { .type = "jdk.BooleanFlag",                                 \
				    .fields = { "name", "value", "origin" },                   \
				    .on_event = jfr_fill_boolean_flag,                         \
				    .late = true },                                            \
	[JFR_FILL_INT_FLAG] = { .type = "jdk.IntFlag",                                         \
				.fields = { "name", "value", "origin" },                       \
				.on_event = jfr_fill_int_flag,                                 \
				.late = true },                                                \
	[JFR_FILL_UNSIGNED_INT_FLAG] = { .type = "jdk.UnsignedIntFlag",                        \
					 .fields = { "name", "value", "origin" },              \
					 .on_event = jfr_fill_unsigned_int_flag,               \
					 .late = true },                                       \
	[JFR_FILL_LONG_FLAG] = { .type = "jdk.LongFlag",                                       \
				 .fields = { "name", "value", "origin" },                      \
				 .on_event = jfr_fill_long_flag,                               \
				 .late = true },                                               \
	[JFR_FILL_UNSIGNED_LONG_FLAG] = { .type = "jdk.UnsignedLongFlag",                      \
					  .fields = { "name", "value", "origin" },             \
					  .on_event = jfr_fill_unsigned_long_flag,             \
					  .late = true },                                      \
	[JFR_FILL_DOUBLE_FLAG] = { .type = "jdk.DoubleFlag",                                   \
				   .fields = { "name", "value", "origin" },                    \
				   .on_event = jfr_fill_double_flag,                           \
				   .late = true },                                             \
	[JFR_FILL_STRING_FLAG] = { .type = "jdk.StringFlag",                                   \
				   .fields = { "name", "value", "origin" },                    \
				   .on_event = jfr_fill_string_flag,                           \
				   .late = true },                                             \
	[JFR_FILL_SYSTEM_PROPERTY] = { .type = "jdk.InitialSystemProperty",                    \
				       .fields = { "key", "value" },                           \
				       .on_event = jfr_fill_system_property,                   \
				       .late = true }

#endif
