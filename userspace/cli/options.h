/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_OPTIONS_H
#define JVMSCOPE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/live.h"
#include "model/filter.h"
#include "model/recording.h"

struct exporter;

/* What --events takes, in the words of its help. */
#define OPTIONS_EVENTS_HELP                                                               \
	"what to record, of cpu, offcpu (threads that do not run, and why), native (the " \
	"JVM's own native memory), native=libc (that of every caller of malloc), class, " \
	"gc (collections), safepoint, lock (waits for monitors, in wait() and park()), "  \
	"alloc (the Java heap), thread (that start and end), jit (compilations and "      \
	"deoptimizations), exception, io (reads and writes of sockets and files), "       \
	"counter (what the memory is), all; all of these but offcpu, native=libc, jit, "  \
	"exception and io when not given; -NAME takes one away from the default"

/* Bits: which commands an option belongs to. */
enum option_command {
	OPTION_RECORD = 1,
	OPTION_PS = 2,
	OPTION_DOCTOR = 4,
	OPTION_OTHER = 8, /* version, help */
	OPTION_TRIE = 16,
	OPTION_CONVERT = 32,
	OPTION_ANY = 63,
};

enum option_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

#define OPTIONS_PIDS_MAX	 64
#define OPTIONS_FILES_MAX	 16
#define OPTIONS_HZ_WARN		 999   /* above, the interrupts themselves begin to cost */
#define OPTIONS_HZ_MAX		 10000 /* above, a core would do little else: see docs/overhead.md */
#define OPTIONS_DEPTH_MIN	 64
#define OPTIONS_DEPTH_MAX	 16384
#define OPTIONS_RING_MIN	 (4ull << 10)
#define OPTIONS_RING_MAX	 (1ull << 30)
#define OPTIONS_CHUNK_MIN_NS	 100000000ull /* a tick of the loop */
#define OPTIONS_CHUNK_MAX_NS	 3600000000000ull
#define OPTIONS_CHUNK_DEFAULT_NS 10000000000ull
#define OPTIONS_MAX_SIZE_MIN	 (1ull << 20) /* a chunk is some tens of KiB at least */
#define OPTIONS_HZ_DEFAULT	 99	      /* no divisor of the timers programs use */
#define OPTIONS_OVERHEAD_DEFAULT 2	      /* per cent */
#define OPTIONS_OVERHEAD_MIN	 0.1
#define OPTIONS_SITES_MIN	 64
#define OPTIONS_SITES_MAX	 (1u << 20)
#define OPTIONS_BLOCKS_MIN	 1024
#define OPTIONS_BLOCKS_MAX	 (1u << 24)
#define OPTIONS_EVENTS_DEFAULT                                                           \
	(LIVE_EVENT_CPU | LIVE_EVENT_NATIVE | LIVE_EVENT_CLASS | LIVE_EVENT_GC |         \
	 LIVE_EVENT_SAFEPOINT | LIVE_EVENT_LOCK | LIVE_EVENT_THREAD | LIVE_EVENT_ALLOC | \
	 LIVE_EVENT_COUNTER)
#define OPTIONS_EVENTS_TEXT 128 /* room for the names of all events */

/* What the user asked for. Strings point into argv. */
struct options {
	pid_t pids[OPTIONS_PIDS_MAX]; /* no pid twice */
	size_t pid_count;
	bool all;
	char **command; /* NULL-terminated; NULL: none */

	uint64_t duration_ns; /* 0: until a signal or the target's end */
	const char *files[OPTIONS_FILES_MAX];
	size_t file_count;
	const struct exporter *format; /* NULL: by suffix */
	unsigned int events;	       /* enum live_event, or-ed */
	double max_overhead;	       /* per cent of a core; 0: no limit */
	uint32_t frequency;	       /* Hz */
	uint32_t max_depth;	       /* frames */
	uint64_t ring_bytes;
	uint32_t live_blocks; /* of native memory, followed at once; 0: the default */
	uint32_t sites;	      /* the same: told apart at once */
	uint64_t chunk_ns;    /* JFR: how long a chunk is */
	uint64_t max_bytes;   /* JFR: what is kept; 0: all */
	uint64_t max_age_ns;  /* the same */
	enum live_clock clock;
	const char *trie; /* a file or "none"; NULL: the built-in rules */
	enum filter_mode filter;
	enum rec_metric metric; /* collapsed */
	bool threads;
	bool lines;
	bool annotate;
	bool strict;

	bool json; /* ps */

	const char *output; /* trie, convert; NULL: standard output */

	/* trie */
	const char *form; /* "java" ...; NULL: by suffix of the output */
	const char *name; /* of the constant or class */
	uint32_t from;	  /* units of a name that are skipped */
	bool escaped;

	bool quiet;
	bool verbose;
	bool no_progress;
	enum option_color color;

	bool help;
	bool version;
	char *const *operands; /* what is left: the topic of help, the words behind trie,
				the file of convert */
	size_t operand_count;
};

/*
 * Reads the arguments behind the command's name; argv[0] is the command's name.
 *
 * Returns 0, or -EINVAL after one line on standard error that names the argument, what is wrong
 * and what would be right. *out is written only on success. With --help or --version the rest is
 * not checked for completeness.
 */
int options_parse(enum option_command command, int argc, char **argv, struct options *out);

/*
 * The argument of -e: names with commas, a '-' before one takes it away. A list that only takes
 * away begins with what was chosen, any other with nothing. -EINVAL, logged, leaves *chosen as it
 * was or empty.
 */
int options_read_events(const char *arg, unsigned int *chosen);

/* The names of events (enum live_event, or-ed), with commas. Returns to. */
const char *options_events_text(unsigned int events, char *to, size_t size);

/* One option, as help prints it. */
struct option_text {
	char key;	  /* 'p'; 0: long name only */
	const char *name; /* "pid" */
	const char *arg;  /* "PID"; NULL: takes none */
	const char *help;
};
/* The n-th option of a command; false behind the last. */
bool options_text(enum option_command command, size_t n, struct option_text *out);

#endif
