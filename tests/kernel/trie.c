/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie OBJECT [ROUNDS]: the class-name trie's search in the kernel gives the answers that it gives
 * in userspace, for whole and for cut names and from a probe, and is as much work for the verifier
 * whatever the trie. With ROUNDS it also prints what a name costs, best of so many.
 *
 * OBJECT is trie.bpf.c. Without the vectors (tests/unit/trie_data.h) only sets made here are
 * searched. Last line: "N passed, N failed, N skipped".
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/kernel/object.h"
#include "tests/kernel/request.h"
#include "trie/trie_find.h"
#include "trie/trie_rules.h"
#include "unit/trie_data.h"

#define VERIFIED_MAX 1000
#define LONG_NAMES   60
#define PROBED	     2000 /* names a probe is asked for, a set */
#define NAME_BYTES   (sizeof(((struct trie_test_name *)NULL)->bytes) - TRIE_NAME_ROOM)

enum { BY_HELPER, BY_ITERATOR, EMPTY, PROGRAMS };

static const char *const programs[PROGRAMS] = { "by_helper", "by_iterator", "empty" };

/* A trie, and the names it is asked for. */
struct subject {
	const char *label;
	struct trie trie;
	struct trie_test_name *names; /* owned */
	uint32_t count;
};

static const char *object_path;
static unsigned int rounds;
static bool have_iterators;
static int passed, failed, skipped;

static void count(bool good, const char *label, const char *what)
{
	passed += good;
	failed += !good;
	if (!good)
		printf("FAILED: %s: %s\n", label, what);
}

static void add_name(struct subject *s, const uint8_t *bytes, size_t len, size_t have)
{
	struct trie_test_name *name = &s->names[s->count++];

	if (have > NAME_BYTES)
		have = NAME_BYTES;
	*name = (struct trie_test_name){ .len = (uint32_t)len, .have = (uint32_t)have };
	memcpy(name->bytes, bytes, have);
}

static int expected(const struct subject *s, const struct trie_test_name *name)
{
	struct trie_search search;

	trie_begin(&search, name->have, name->len, 0);
	while (!trie_step(&search, &s->trie, name->bytes, NAME_BYTES))
		;
	return search.number;
}

/* ---- one subject in the kernel */

static int load(struct bpf_object *object, const struct subject *s)
{
	struct bpf_map *words = bpf_object__find_map_by_name(object, "trie_words");
	struct bpf_map *names = bpf_object__find_map_by_name(object, "names");
	struct bpf_program *by_iterator =
		bpf_object__find_program_by_name(object, programs[BY_ITERATOR]);
	int err = object_set_constant(object, "jvs_trie_count", s->trie.count);

	if (!err)
		err = object_set_constant(object, "jvs_trie_long_count", s->trie.long_count);
	if (!err)
		err = object_set_constant(object, "name_count", s->count);
	if (!err)
		err = bpf_map__set_value_size(words, 2 * trie_total(&s->trie));
	if (!err)
		err = bpf_map__set_max_entries(names, s->count);
	if (!err)
		err = bpf_program__set_autoload(by_iterator, have_iterators);
	return err ? err : bpf_object__load(object);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns how long it took, or UINT64_MAX. */
static uint64_t run(const struct bpf_object *object, const char *name)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int fd = bpf_program__fd(bpf_object__find_program_by_name(object, name));
	uint64_t start = now_ns();

	if (bpf_prog_test_run_opts(fd, &options)) {
		perror(name);
		return UINT64_MAX;
	}
	return now_ns() - start;
}

static bool is_little_work(const struct bpf_object *object, const char *name, uint32_t *insns)
{
	int fd = bpf_program__fd(bpf_object__find_program_by_name(object, name));
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return false;
	*insns = info.verified_insns;
	return *insns > 0 && *insns <= VERIFIED_MAX;
}

static bool all_agree(const struct subject *s, const struct trie_test_name *found)
{
	for (uint32_t i = 0; i < s->count; i++) {
		int number = expected(s, &s->names[i]);

		if (found[i].number == number)
			continue;
		printf("%s: %.*s (%u of %u bytes): %d, expected %d\n", s->label,
		       (int)s->names[i].have, (const char *)s->names[i].bytes, s->names[i].have,
		       s->names[i].len, found[i].number, number);
		return false;
	}
	return true;
}

static void time_programs(const struct bpf_object *object, const struct subject *s)
{
	double best[PROGRAMS] = { 1e9, 1e9, 1e9 };

	for (unsigned int round = 0; round < rounds; round++) {
		for (int i = 0; i < PROGRAMS; i++) {
			double ns = i == BY_ITERATOR && !have_iterators
					    ? 1e9
					    : (double)run(object, programs[i]) / s->count;

			if (ns < best[i])
				best[i] = ns;
		}
	}
	printf("bpf %s: bpf_loop %.1f ns a name", s->label, best[BY_HELPER] - best[EMPTY]);
	if (have_iterators)
		printf(", iterator %.1f ns", best[BY_ITERATOR] - best[EMPTY]);
	printf("; best of %u, without the empty frame's %.1f ns\n", rounds, best[EMPTY]);
}

static void search_in_kernel(const struct bpf_object *object, const struct subject *s,
			     struct trie_test_name *names)
{
	uint32_t insns[2] = { 0 };

	memcpy(names, s->names, s->count * sizeof(*names));
	for (int i = BY_HELPER; i <= BY_ITERATOR; i++) {
		if (i == BY_ITERATOR && !have_iterators) {
			skipped += 3;
			continue;
		}
		for (uint32_t name = 0; name < s->count; name++)
			names[name].number = -2;
		count(run(object, programs[i]) != UINT64_MAX, s->label, programs[i]);
		count(all_agree(s, names), s->label, programs[i]);
		count(is_little_work(object, programs[i], &insns[i]), s->label, "verifier");
	}
	printf("%-32s %7u words, %6u names; verified: bpf_loop %u, iterator %u\n", s->label,
	       trie_total(&s->trie), s->count, insns[BY_HELPER], insns[BY_ITERATOR]);
	if (rounds)
		time_programs(object, s);
}

/* ---- a tracing program */

/* Probed. The kernel's side reads the name, of which only have bytes are to be looked at. */
static __attribute__((noinline, noclone)) void call_probed(const void *bytes, uint32_t have,
							   uint32_t len)
{
	__asm__ volatile("" : : "r"(bytes), "r"(have), "r"(len) : "memory");
}

static bool probe_agrees(const struct subject *s, int probed, const struct trie_test_name *name)
{
	struct trie_test_probed before, after;
	int number = expected(s, name);
	uint32_t first = 0;

	memset(&before, 0, sizeof(before));
	memset(before.bytes, 'x', sizeof(before.bytes));
	bpf_map_update_elem(probed, &first, &before, BPF_ANY);
	call_probed(name->bytes, name->have, name->len);
	bpf_map_lookup_elem(probed, &first, &after);
	return after.calls == 1 && after.rule == (uint32_t)(number > 0 ? number : 0);
}

static void check_probe(const struct bpf_object *object, const struct subject *s)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .func_name = "call_probed");
	struct bpf_program *program = bpf_object__find_program_by_name(object, "by_probe");
	int probed = bpf_object__find_map_fd_by_name(object, "probed");
	struct bpf_link *link =
		bpf_program__attach_uprobe_opts(program, getpid(), "/proc/self/exe", 0, &options);
	uint32_t insns = 0;
	bool agrees = true;

	if (!link) {
		printf("%s: uprobes are not allowed here\n", s->label);
		skipped++;
		return;
	}
	for (uint32_t i = 0; i < s->count && agrees; i += 1 + s->count / PROBED)
		agrees = probe_agrees(s, probed, &s->names[i]);
	count(agrees, s->label, "the rule a probe finds");
	bpf_link__destroy(link);
	count(is_little_work(object, "by_probe", &insns), s->label, "verifier of a probe");
	printf("%-32s verified in a uprobe: %u\n", s->label, insns);
}

static void check(const struct subject *s)
{
	struct bpf_object *object = bpf_object__open_file(object_path, NULL);
	size_t size = s->count * sizeof(*s->names);
	uint32_t first = 0;
	void *names;

	if (!object || load(object, s)) {
		count(false, s->label, "does not load");
		bpf_object__close(object);
		return;
	}
	bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, "trie_words"), &first,
			    s->trie.units, BPF_ANY);
	names = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		     bpf_object__find_map_fd_by_name(object, "names"), 0);
	if (names == MAP_FAILED) {
		count(false, s->label, "names cannot be mapped");
	} else {
		search_in_kernel(object, s, names);
		if (!rounds)
			check_probe(object, s);
		munmap(names, size);
	}
	bpf_object__close(object);
}

/* ---- subjects */

/* Each name whole if it fits, and cut: at the buffer's end, and somewhere before. */
static void add_ways(struct subject *s, const struct trie_data_names *names)
{
	s->names = calloc(3 * names->count + 1, sizeof(*s->names));
	for (size_t i = 0; s->names && i < names->count; i++) {
		const struct trie_data_name *n = &names->items[i];

		add_name(s, n->bytes, n->len, n->len);
		if (n->len > 1 && !rounds) {
			add_name(s, n->bytes, n->len, n->len - 1);
			add_name(s, n->bytes, n->len, i % n->len);
		}
	}
}

static void check_vectors(const char *label, const char *set, const char *kind, const char *names)
{
	struct trie_data_names list = trie_data_names(kind, names);
	struct subject s = { .label = label };
	struct trie_words words = { 0 };
	size_t size;
	char *text = trie_data_read("rules", set, ".trie", &size);

	if (!text || !list.count || trie_from_text(text, size, &words, NULL, NULL)) {
		count(false, label, "no data");
	} else {
		s.trie = trie_of(&words);
		add_ways(&s, &list);
		check(&s);
	}
	free(s.names);
	free(text);
	trie_words_free(&words);
	trie_data_free(&list);
}

static const char own_rules[] =
	"1 io.x.*\n0 io.x.Hot\n2 jp\n3 \xe4\xb8\xad.*\n4 \xe4\xb8\xad.\xc3\xa4\n5 a*\n6 ab\n7 abc\n8 abcd*\n"
	"9 long.segment.in.a.name\n10 long.segment.of.a.name*\n8191 \xf0\x9d\x94\x98x\n";

/* Names from the pieces of the rules, whole and cut at each byte. */
static void check_own(void)
{
	static const char *const pieces[] = { "",	   "io.x.",	"io/x/",
					      "Hot",	   "jp",	"a",
					      "bc",	   "d",		"\xe4\xb8\xad",
					      ".",	   "\xc3\xa4",	"long.segment.",
					      "in.a.name", "of/a/name", "\xed\xa0\xb5\xed\xb4\x98x",
					      "\x80",	   "\xe4\xb8" };
	enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };
	struct subject s = { .label = "own rules" };
	struct trie_words words = { 0 };
	char name[64];

	s.names = calloc(PIECES * PIECES * PIECES * 40, sizeof(*s.names));
	if (!s.names || trie_from_text(own_rules, sizeof(own_rules) - 1, &words, NULL, NULL)) {
		count(false, s.label, "not built");
		free(s.names);
		return;
	}
	s.trie = trie_of(&words);
	for (int i = 0; i < PIECES * PIECES * PIECES; i++) {
		int len = snprintf(name, sizeof(name), "%s%s%s", pieces[i % PIECES],
				   pieces[i / PIECES % PIECES], pieces[i / PIECES / PIECES]);

		for (int have = 0; have <= len && have < 40; have++)
			add_name(&s, (const uint8_t *)name, (size_t)len, (size_t)have);
	}
	check(&s);
	free(s.names);
	trie_words_free(&words);
}

/*
 * Names as long as the buffer, and a little shorter and longer, that are rules of their own up to
 * their last unit, which has one, two or three bytes.
 */
static void check_long(void)
{
	static const char *const ends[] = { "x", "/", "\xc3\xa4", "\xe4\xb8\xad", "\xe4" };
	struct subject s = { .label = "names as long as the buffer" };
	struct trie_words words = { 0 };
	char *rules = NULL, name[300];
	size_t size = 0;
	FILE *text = open_memstream(&rules, &size);

	memset(name, 'x', sizeof(name));
	s.names = calloc(LONG_NAMES * 6, sizeof(*s.names));
	for (int len = 0; text && s.names && len < LONG_NAMES; len++) {
		const char *end = ends[len % 5];
		int from = (int)NAME_BYTES - LONG_NAMES / 2 + len / 5;

		memcpy(name + from, end, strlen(end) + 1);
		if (len % 5 < 4)
			fprintf(text, "%d %s%s\n", len, name, len % 3 ? "" : "*");
		for (int cut = 0; cut < 3; cut++)
			add_name(&s, (const uint8_t *)name, strlen(name), strlen(name) - cut);
		memcpy(name + from, "xxxx", 4);
	}
	if (!text || fclose(text) || trie_from_text(rules, size, &words, NULL, NULL)) {
		count(false, s.label, "not built");
	} else {
		s.trie = trie_of(&words);
		check(&s);
	}
	free(s.names);
	free(rules);
	trie_words_free(&words);
}

/* Open-coded iterators: from 6.4 on. */
static bool kernel_has_iterators(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has = btf && btf__find_by_name_kind(btf, "bpf_iter_num_new", BTF_KIND_FUNC) > 0;

	btf__free(btf);
	return has;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: trie OBJECT [ROUNDS]\n");
		return EXIT_FAILURE;
	}
	object_path = argv[1];
	rounds = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
	have_iterators = kernel_has_iterators();
	if (!rounds) {
		check_own();
		check_long();
	}
	for (int i = 0; !rounds && trie_data_present() && i < TRIE_DATA_SETS; i++)
		check_vectors(trie_data_sets[i], trie_data_sets[i], "expect", trie_data_sets[i]);
	if (trie_data_present()) {
		check_vectors("ignored_class_name x JDK 17", "ignored_class_name", "names",
			      "jdk17.ignored_class_name");
		check_vectors("ignored_class_name x application", "ignored_class_name", "names",
			      "sample_class_names.ignored_class_name");
	}
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
