/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hit OBJECT - what one hit of a uprobe costs the probed thread, by the instruction that is probed,
 * by the kind of link, and by what the program does (root).
 *
 * Functions of this program are probed. Figures are of the CPU time of a thread, a call, without
 * what the call itself takes: the median of some rounds.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live/probes.h"
#include "target/maps.h"

#define ROUNDS 9

/* ---- functions to be probed, by their first instruction */

#ifdef __x86_64__
#define BODY(name, code)                                                                   \
	asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ": " code "\n"); \
	extern void name(void);

BODY(hit_push, "push %rbp; pop %rbp; ret")
BODY(hit_nop, "nop; ret")
BODY(hit_nop2, "xchg %ax, %ax; ret")
BODY(hit_jmp, "jmp 1f; 1: ret")
BODY(hit_jcc, "je 1f; 1: ret")
BODY(hit_nop5, "nopl 0x0(%rax,%rax,1); ret")
BODY(hit_test, "test %rdi, %rdi; ret")
BODY(hit_endbr64, "endbr64; ret")

static const struct body {
	const char *what;
	void (*function)(void);
	unsigned int calls; /* of a round */
} bodies[] = {
	{ "push", hit_push, 20000 },
	{ "nop", hit_nop, 20000 },
	{ "nop of 2 bytes", hit_nop2, 20000 },
	{ "jmp", hit_jmp, 20000 },
	{ "jcc", hit_jcc, 20000 },
	{ "nop of 5 bytes", hit_nop5, 20000 },
	{ "test", hit_test, 2000 },
	{ "endbr64", hit_endbr64, 2000 },
};
#else
__attribute__((noinline)) static void hit_first(void)
{
	asm volatile("nop");
}

static const struct body {
	const char *what;
	void (*function)(void);
	unsigned int calls;
} bodies[] = { { "first instruction", hit_first, 2000 } };
#endif

#define BODIES (sizeof(bodies) / sizeof(bodies[0]))

/* ---- times */

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double call_ns(const struct body *body)
{
	double rounds[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		double start = cpu_ns();

		for (unsigned int i = 0; i < body->calls; i++)
			body->function();
		rounds[r] = (cpu_ns() - start) / body->calls;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), ascending);
	return rounds[ROUNDS / 2];
}

/* ---- probes */

/* An object of its own, with the programs of one group and one kind of link. Negative: not there.
 */
static double hit_ns(const char *path, const struct body *body, const char *group,
		     enum probe_links links, enum probe_where where)
{
	struct probe_set set = {
		.count = 1, .multi = { -1, -1 }, .pid = getpid(), .sites = { { .where = where } }
	};
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	double without, with = -1;

	if (!object)
		return -1;
	if (maps_own_offset((const void *)body->function, &set.sites[0].file_offset) ||
	    probes_choose(object, group, links, true) || bpf_object__load(object)) {
		bpf_object__close(object);
		return -1;
	}
	set.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	probes_borrow(&set, object, group, links);
	without = call_ns(body);
	if (set.file >= 0 && !probes_attach(&set))
		with = call_ns(body) - without;
	probes_free(&set);
	bpf_object__close(object);
	return with;
}

static void print_ns(double ns)
{
	if (ns < 0)
		printf("%12s", "-");
	else
		printf("%12.0f", ns);
}

static const struct column {
	const char *what, *group;
	enum probe_links links;
	enum probe_where where;
} columns[] = {
	{ "perf", "empty", PROBE_SINGLE, PROBE_ENTRY },
	{ "multi", "empty", PROBE_MULTI, PROBE_ENTRY },
	{ "perf+return", "empty", PROBE_SINGLE, PROBE_CALL },
	{ "multi+return", "empty", PROBE_MULTI, PROBE_CALL },
	{ "session", "skip", PROBE_SESSION, PROBE_CALL },
	{ "ses.+return", "empty", PROBE_SESSION, PROBE_CALL },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void print_links(const char *path)
{
	printf("%-18s", "ns a hit");
	for (size_t c = 0; c < COLUMNS; c++)
		printf("%12s", columns[c].what);
	printf("\n");
	for (size_t b = 0; b < BODIES; b++) {
		printf("%-18s", bodies[b].what);
		for (size_t c = 0; c < COLUMNS; c++)
			print_ns(hit_ns(path, &bodies[b], columns[c].group, columns[c].links,
					columns[c].where));
		printf("\n");
	}
}

static const struct {
	const char *what, *group;
} works[] = {
	{ "a counter of the CPU", "count" }, { "clock", "clock" },
	{ "hash: look up, add", "lookup" },  { "hash: insert, delete", "insert" },
	{ "storage of the task", "task" },   { "16 bytes of the stack", "read" },
	{ "64 bytes to a ring", "send" },
};

static void print_works(const char *path, enum probe_links links)
{
	double empty = hit_ns(path, &bodies[0], "empty", links, PROBE_ENTRY);

	printf("\n%-24s%12s\n", "what a program does", "ns more");
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		double ns = hit_ns(path, &bodies[0], works[i].group, links, PROBE_ENTRY);

		printf("%-24s%12.0f\n", works[i].what, ns < 0 ? 0 : ns - empty);
	}
}

static int ignore(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

int main(int argc, char **argv)
{
	enum probe_links best = probes_best();

	if (argc != 2) {
		fprintf(stderr, "usage: hit OBJECT\n");
		return 2;
	}
	libbpf_set_print(ignore);
	if (hit_ns(argv[1], &bodies[0], "empty", PROBE_SINGLE, PROBE_ENTRY) < 0) {
		fprintf(stderr, "hit: not run: probes cannot be attached\n");
		return 1;
	}
	print_links(argv[1]);
	print_works(argv[1], best == PROBE_SINGLE ? PROBE_SINGLE : PROBE_MULTI);
	return 0;
}
