/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/jvmlist.h"
#include "exporters/json_stream.h"

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

static void write_jvm(struct json_stream *json, const struct jvm_entry *jvm)
{
	json_map(json);
	json_key_signed(json, "pid", jvm->pid);
	json_key(json, "container_pid");
	if (jvm->container_pid != jvm->pid)
		json_signed(json, jvm->container_pid);
	else
		json_null(json);
	json_key_text_or_null(json, "user", jvm->user);
	json_key_text_or_null(json, "jvm_version", jvm->version);
	json_key_text_or_null(json, "gc_name", jvm->gc_name);
	json_key_unsigned(json, "start_time_ns", jvm->start_time_ns);
	json_key_unsigned(json, "uptime_ns", jvm->uptime_ns);
	json_key_text_or_null(json, "main_class", jvm->main_class);
	json_key_text_or_null(json, "container_id", jvm->container.id);
	json_key_text_or_null(json, "pod_uid", jvm->container.pod_uid);
	json_key_bool(json, "java_frames", jvm->recordable);
	json_key_text_or_null(json, "reason", jvm->reason);
	json_map_end(json);
}

static int print_json(const struct jvm_list *list)
{
	struct json_stream json;
	int err = json_stream_open(&json, stdout);

	if (err)
		return err;
	json_map(&json);
	json_key_text(&json, "schema", "jvmscope-ps/1");
	json_key(&json, "jvms");
	json_array(&json);
	for (size_t i = 0; i < list->count; i++)
		write_jvm(&json, &list->items[i]);
	json_array_end(&json);
	json_map_end(&json);
	return json_stream_close(&json);
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
	if (err)
		log_error("standard output: %s", strerror(-err));
	jvm_list_free(&list);
	return err ? EXIT_RUNTIME : EXIT_DONE;
}
