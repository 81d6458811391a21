/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_COMMAND_H
#define JVMSCOPE_COMMAND_H

#include <stdio.h>

#include "cli/options.h"

/* One row of the table in main.c. */
struct command {
	const char *name;
	enum option_command id; /* which options it has */
	const char *operands;	/* "[OPTION]... (-p PID | ...)", for the usage line */
	const char *help;	/* one line, for the list of commands */
	const char *about;	/* what jvmscope help COMMAND says above the options; may be "" */
	/* Returns the exit status of the process. */
	int (*run)(const struct options *options);
};

/* Exit statuses: a contract, documented in jvmscope(1). */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_RUNTIME = 1, /* disk full, target unreadable, partial output under --strict */
	EXIT_USAGE = 2,
	EXIT_NO_TARGET = 4, /* no such process, or not a HotSpot JVM */
	EXIT_RIGHTS = 5,    /* rights or kernel features are missing */
};

/* The status for a negative errno of live, target and jvm. */
enum exit_status exit_of_error(int err);

int cmd_record(const struct options *options);
int cmd_ps(const struct options *options);
int cmd_doctor(const struct options *options);
int cmd_trie(const struct options *options);
int cmd_convert(const struct options *options);

/* The list of commands, and the page of one. commands ends with a NULL name. */
void help_commands(const struct command *commands, FILE *out);
void help_command(const struct command *command, FILE *out);

#endif
