/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/jvmlist.h"

#define CONTAINER_SHORT 12 /* as container tools print ids */
#define COLUMNS		9

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

/* ---- the table */

static void cells_of(const struct jvm_entry *jvm, char cells[COLUMNS][JVM_ENTRY_TEXT])
{
	char uptime[TEXT_MAX] = "";

	if (jvm->start_time_ns)
		text_ns(jvm->uptime_ns, uptime);
	snprintf(cells[0], JVM_ENTRY_TEXT, "%d", jvm->pid);
	if (jvm->container_pid != jvm->pid)
		snprintf(cells[1], JVM_ENTRY_TEXT, "%d", jvm->container_pid);
	else
		snprintf(cells[1], JVM_ENTRY_TEXT, "-");
	snprintf(cells[2], JVM_ENTRY_TEXT, "%s", or_dash(jvm->user));
	snprintf(cells[3], JVM_ENTRY_TEXT, "%s", or_dash(jvm->version));
	snprintf(cells[4], JVM_ENTRY_TEXT, "%s", or_dash(jvm->gc_name));
	snprintf(cells[5], JVM_ENTRY_TEXT, "%s", or_dash(uptime));
	snprintf(cells[6], JVM_ENTRY_TEXT, "%.*s", CONTAINER_SHORT, or_dash(jvm->container.id));
	snprintf(cells[7], JVM_ENTRY_TEXT, "%s", or_dash(jvm->container.pod_uid));
	if (jvm->recordable)
		snprintf(cells[8], JVM_ENTRY_TEXT, "yes");
	else
		snprintf(cells[8], JVM_ENTRY_TEXT, "no: %.80s", jvm->reason);
}

static const char *const titles[COLUMNS] = { "PID",    "CPID",	    "USER", "VERSION",	  "GC",
					     "UPTIME", "CONTAINER", "POD",  "JAVA FRAMES" };

static void print_row(const char *const cells[COLUMNS], const int widths[COLUMNS],
		      const char *main_class)
{
	for (size_t i = 0; i < COLUMNS; i++)
		printf("%-*s  ", widths[i], cells[i]);
	puts(main_class);
}

static void print_table(const struct jvm_list *list)
{
	int widths[COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++)
		widths[i] = (int)strlen(titles[i]);
	for (size_t n = 0; n < list->count; n++) {
		char cells[COLUMNS][JVM_ENTRY_TEXT];

		cells_of(&list->items[n], cells);
		for (size_t i = 0; i < COLUMNS; i++) {
			if ((int)strlen(cells[i]) > widths[i])
				widths[i] = (int)strlen(cells[i]);
		}
	}
	print_row(titles, widths, "MAIN");
	for (size_t n = 0; n < list->count; n++) {
		char cells[COLUMNS][JVM_ENTRY_TEXT];
		const char *row[COLUMNS];

		cells_of(&list->items[n], cells);
		for (size_t i = 0; i < COLUMNS; i++)
			row[i] = cells[i];
		print_row(row, widths, or_dash(list->items[n].main_class));
	}
}

/* ---- JSON */

static void gen_string(yajl_gen gen, const char *text)
{
	yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
}

static void gen_text(yajl_gen gen, const char *key, const char *text)
{
	gen_string(gen, key);
	if (*text)
		gen_string(gen, text);
	else
		yajl_gen_null(gen);
}

static void gen_number(yajl_gen gen, const char *key, uint64_t value)
{
	gen_string(gen, key);
	yajl_gen_integer(gen, (long long)value);
}

static void gen_jvm(yajl_gen gen, const struct jvm_entry *jvm)
{
	yajl_gen_map_open(gen);
	gen_number(gen, "pid", (uint64_t)jvm->pid);
	gen_string(gen, "container_pid");
	if (jvm->container_pid != jvm->pid)
		yajl_gen_integer(gen, jvm->container_pid);
	else
		yajl_gen_null(gen);
	gen_text(gen, "user", jvm->user);
	gen_text(gen, "jvm_version", jvm->version);
	gen_text(gen, "gc_name", jvm->gc_name);
	gen_number(gen, "start_time_ns", jvm->start_time_ns);
	gen_number(gen, "uptime_ns", jvm->uptime_ns);
	gen_text(gen, "main_class", jvm->main_class);
	gen_text(gen, "container_id", jvm->container.id);
	gen_text(gen, "pod_uid", jvm->container.pod_uid);
	gen_string(gen, "java_frames");
	yajl_gen_bool(gen, jvm->recordable);
	gen_text(gen, "reason", jvm->reason);
	yajl_gen_map_close(gen);
}

static int print_json(const struct jvm_list *list)
{
	yajl_gen gen = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;

	if (!gen)
		return -ENOMEM;
	yajl_gen_config(gen, yajl_gen_beautify, 1);
	yajl_gen_map_open(gen);
	gen_string(gen, "schema");
	gen_string(gen, "jvmscope-ps/1");
	gen_string(gen, "jvms");
	yajl_gen_array_open(gen);
	for (size_t i = 0; i < list->count; i++)
		gen_jvm(gen, &list->items[i]);
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
	yajl_gen_get_buf(gen, &text, &len);
	fwrite(text, 1, len, stdout);
	yajl_gen_free(gen);
	return 0;
}

int cmd_ps(const struct options *options)
{
	struct jvm_list list = { 0 };
	int err;

	err = jvm_list_read(&list);
	if (err) {
		log_error("/proc: %s", strerror(-err));
		return EXIT_RUNTIME;
	}
	if (options->json)
		err = print_json(&list);
	else if (list.count)
		print_table(&list);
	else
		log_info("no JVM runs on this host, or none that may be seen");
	jvm_list_free(&list);
	return err ? EXIT_RUNTIME : EXIT_DONE;
}
