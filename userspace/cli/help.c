/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/command.h"

#define HELP_COLUMN 26
#define HELP_WIDTH  80

/* Words from column HELP_COLUMN on, in lines of at most HELP_WIDTH columns. */
static void write_wrapped(const char *text, int column, FILE *out)
{
	if (column >= HELP_COLUMN) {
		fputc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - column, "");
	column = HELP_COLUMN;
	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column > HELP_COLUMN && column + 1 + len > HELP_WIDTH) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		column += fprintf(out, "%s%.*s", column > HELP_COLUMN ? " " : "", len, text);
		text += len;
		text += *text == ' ';
	}
	fputc('\n', out);
}

static void write_option(const struct option_text *option, FILE *out)
{
	char left[64];
	int len;

	if (option->key)
		len = snprintf(left, sizeof(left), "  -%c, --%s", option->key, option->name);
	else
		len = snprintf(left, sizeof(left), "      --%s", option->name);
	if (option->arg)
		len += snprintf(left + len, sizeof(left) - (size_t)len, " %s", option->arg);
	fputs(left, out);
	write_wrapped(option->help, len, out);
}

void help_commands(const struct command *commands, FILE *out)
{
	fputs("usage: jvmscope -p PID [OPTION]...\n"
	      "       jvmscope COMMAND [OPTION]...\n"
	      "\n"
	      "Records where a running JVM spends its CPU time and its memory, from outside, by eBPF.\n"
	      "\n",
	      out);
	for (const struct command *c = commands; c->name; c++) {
		int len = fprintf(out, "  %s", c->name);

		write_wrapped(c->help, len, out);
	}
	fputs("\n"
	      "jvmscope help COMMAND, or jvmscope COMMAND --help, lists the options of a command.\n",
	      out);
}

void help_command(const struct command *command, FILE *out)
{
	struct option_text option;

	fprintf(out, "usage: jvmscope %s%s%s\n\n%s", command->name, *command->operands ? " " : "",
		command->operands, command->about);
	for (size_t n = 0; options_text(command->id, n, &option); n++)
		write_option(&option, out);
}
