/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/command.h"

static int cmd_version(const struct options *options);
static int cmd_help(const struct options *options);

static const struct command commands[] = {
	{ "record", OPTION_RECORD, "[OPTION]... (-p PID[,PID]... | --all | -- COMMAND [ARG]...)",
	  "record a JVM; jvmscope -p PID means this",
	  "Records until -d is over, Ctrl-C, or the end of the target.\n"
	  "With -- COMMAND it starts the JVM itself and records it from its first instruction.\n\n",
	  cmd_record },
	{ "ps", OPTION_PS, "[OPTION]...", "the JVMs of this host",
	  "Lists the JVMs of this host, and whether their Java frames can be recorded.\n\n",
	  cmd_ps },
	{ "doctor", OPTION_DOCTOR, "[OPTION]...",
	  "what this machine lacks for recording, and the fix",
	  "Checks kernel, rights and, with -p, one JVM. One line per need: ok, degraded or\n"
	  "missing, and what to do. Status 5 when something is missing.\n\n",
	  cmd_doctor },
	{ "trie", OPTION_TRIE, "build|lookup|dump FILE [OPTION]... [NAME]...",
	  "class-name rules: build, look up, dump",
	  "build writes the rules of FILE in another form, dump writes them as text again.\n"
	  "lookup prints NAME, a tab and the number of its rule, -1 for none; without a NAME it\n"
	  "reads them from standard input, one a line. FILE has rules as text or in binary form;\n"
	  "- is standard input, built-in the list that is used when nothing else is said.\n\n",
	  cmd_trie },
	{ "convert", OPTION_CONVERT, "FILE -o FILE [OPTION]...", "a recording in another format",
	  "Reads JFR of the JDK, async-profiler and jvmscope, JSON of jvmscope and collapsed\n"
	  "stacks, also packed by gzip or zstd; - is standard input. What is damaged is read as\n"
	  "far as it goes, with a warning.\n\n",
	  cmd_convert },
	{ "version", OPTION_OTHER, "", "the version", "", cmd_version },
	{ "help", OPTION_OTHER, "[COMMAND]", "this list, or the options of COMMAND", "", cmd_help },
	{ 0 },
};

static const struct command *find_command(const char *name)
{
	for (const struct command *c = commands; c->name; c++) {
		if (!strcmp(c->name, name))
			return c;
	}
	return NULL;
}

static int cmd_version(const struct options *options)
{
	(void)options;
	puts("jvmscope " JVMSCOPE_VERSION);
	return EXIT_DONE;
}

static int unknown_command(const char *name)
{
	if (name[strspn(name, "0123456789")] == 0)
		log_error("%s: no such command; a pid is given as jvmscope -p %s", name, name);
	else
		log_error("%s: no such command (see jvmscope help)", name);
	return EXIT_USAGE;
}

static int cmd_help(const struct options *options)
{
	const struct command *topic;

	if (!options->operand_count) {
		help_commands(commands, stdout);
		return EXIT_DONE;
	}
	topic = find_command(options->operands[0]);
	if (!topic)
		return unknown_command(options->operands[0]);
	help_command(topic, stdout);
	return EXIT_DONE;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct options options;

	if (options_parse(command->id, argc, argv, &options))
		return EXIT_USAGE;
	if (options.quiet)
		log_set_level(LOG_LEVEL_WARN);
	if (options.verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	if (options.version)
		return cmd_version(&options);
	if (!options.help)
		return command->run(&options);
	help_command(command, stdout);
	return EXIT_DONE;
}

/* Results that could not be written are a failure, also when the reader has gone away. */
static int close_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (status == EXIT_DONE) {
		log_error("standard output: %m");
		status = EXIT_RUNTIME;
	}
	return status;
}

/*
 * Descriptors 0 to 2 that are closed would be given to files of ours, which then get our messages.
 * They are opened such that writing fails as it does on a closed one.
 */
static void hold_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct command *command;

	hold_standard_files();
	/* A file over its size limit is an error of write(), with a message. */
	signal(SIGXFSZ, SIG_IGN);

	if (argc < 2) {
		help_commands(commands, stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		help_commands(commands, stdout);
		return close_stdout(EXIT_DONE);
	}
	/* An option first means record, whose name the user left out. */
	if (argv[1][0] == '-')
		return close_stdout(run(&commands[0], argc, argv));

	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return close_stdout(run(command, argc - 1, argv + 1));
}
