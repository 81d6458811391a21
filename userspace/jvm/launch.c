/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/launch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "jvm/cmdline.h"
#include "jvm/layout.h"
#include "target/target.h"

#define COMMAND_MAX   4096 /* of the command only the first word is wanted */
#define ARGUMENTS_MAX 4096 /* options of one JVM */

/* ---- the command line */

/* The caller frees. NULL when it cannot be read. */
static char *read_line(const struct target *t, size_t *len)
{
	char *bytes = malloc(CMDLINE_MAX);
	ssize_t got = bytes ? target_cmdline(t, bytes, CMDLINE_MAX) : -1;

	if (got >= 0) {
		*len = (size_t)got;
		return bytes;
	}
	free(bytes);
	return NULL;
}

/* ---- what the JVM remembers */

/* The start of a long string, too. Returns false when there is none. */
static bool read_text(const struct target *t, uint64_t addr, char *to, size_t size)
{
	ssize_t len = addr ? target_read_string(t, addr, to, size) : -EFAULT;

	if (len == -ENAMETOOLONG) {
		if (target_read(t, addr, to, size - 1))
			return false;
		to[size - 1] = 0;
		return true;
	}
	return len >= 0;
}

/* Launching a source file, the launcher runs the compiler, whose argument is the file. */
static const char *after_source_launcher(const char *command)
{
	static const char prefix[] = "jdk.compiler/com.sun.tools.javac.launcher.";
	const char *blank = strchr(command, ' ');

	return !strncmp(command, prefix, sizeof(prefix) - 1) && blank ? blank + 1 : command;
}

size_t launch_name(const char *command, const char *line_name, const char **name)
{
	size_t len = strlen(line_name);

	*name = after_source_launcher(command);
	if (len && !strncmp(*name, line_name, len) && ((*name)[len] == ' ' || !(*name)[len]))
		return len;
	return strcspn(*name, " ");
}

static bool remembered_name(const struct target *t, const struct hotspot *h, const char *line_name,
			    struct strbuf *to)
{
	char command[COMMAND_MAX];
	const char *name;
	uint64_t addr;
	size_t len;

	if (field_read(t, 0, h->field.java_command, &addr) ||
	    !read_text(t, addr, command, sizeof(command)))
		return false;
	len = launch_name(command, line_name, &name);
	strbuf_add(to, name, len);
	return len > 0;
}

/* What the launcher makes of paths and of the module that is run. */
static bool is_hidden(const char *option)
{
	static const char *const prefixes[] = {
		"-Djava.class.path=",
		"-Djdk.module.path=",
		"-Djdk.module.upgrade.path=",
		"-Djdk.module.main",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(option, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool remembered_options(const struct target *t, const struct hotspot *h, struct strbuf *to)
{
	uint64_t array, count, addr;
	char *option;

	if (field_read(t, 0, h->field.jvm_args, &array) ||
	    field_read(t, 0, h->field.jvm_arg_count, &count) || count > ARGUMENTS_MAX ||
	    (count && !array))
		return false;
	option = malloc(CMDLINE_MAX);
	if (!option)
		return false;
	for (uint64_t i = 0; i < count && !to->truncated; i++) {
		if (target_read_u64(t, array + i * sizeof(addr), &addr) ||
		    !read_text(t, addr, option, CMDLINE_MAX)) {
			to->truncated = true;
			break;
		}
		if (is_hidden(option))
			continue;
		strbuf_puts(to, to->len ? " " : "");
		strbuf_puts(to, option);
	}
	free(option);
	return true;
}

/* ---- both */

void launch_main_class(const struct target *t, const struct hotspot *h, char *to, size_t size)
{
	struct strbuf name = { .max = CMDLINE_MAX };
	size_t len = 0;
	char *line;

	if (!size)
		return;
	to[0] = 0;
	line = read_line(t, &len);
	if (line)
		cmdline_main_class(line, len, to, size);
	if (h && remembered_name(t, h, to, &name))
		text_utf8(strbuf_text(&name), name.len, to, size);
	strbuf_free(&name);
	free(line);
}

void launch_arguments(const struct target *t, const struct hotspot *h, char *to, size_t size)
{
	struct strbuf options = { .max = CMDLINE_MAX };
	size_t len = 0;
	char *line = NULL;

	if (!size)
		return;
	to[0] = 0;
	if (h && remembered_options(t, h, &options)) {
		cmdline_put(&options, to, size);
	} else {
		line = read_line(t, &len);
		if (line)
			cmdline_arguments(line, len, to, size);
	}
	strbuf_free(&options);
	free(line);
}
