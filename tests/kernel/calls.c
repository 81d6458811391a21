/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls OBJECT: probed calls of this process, within one another and without a probe on their
 * return, and what the programs for such calls make of them.
 *
 * OBJECT is the product's. Last line: "N passed, N failed, N skipped".
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/jvs_abi.h"
#include "bpf/jvs_class.h"
#include "bpf/jvs_mapping.h"
#include "bpf/jvs_native.h"
#include "tests/kernel/expect.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define RECORDS_MAX	  16
#define LINKS_MAX	  8
#define PLACE		  0x10000ul /* what reserve() returns */
#define THREAD		  0x20000ul

static struct bpf_object *object;
static struct bpf_link *links[LINKS_MAX];
static size_t link_count;

/* What came through the ring. */
static struct {
	struct jvs_mapped records[RECORDS_MAX];
	size_t count, stacks;
	struct linked {
		uint64_t klass, time_ns, duration_ns, verify_ns, rewrite_ns;
	} linked[RECORDS_MAX];
	size_t linked_count;
} received;

/* ---- functions that are probed; each calls the given one */

typedef void within_fn(void);

#define PROBED __attribute__((noinline, noclone, used))

PROBED unsigned long reserve(size_t size, within_fn *within)
{
	if (within)
		within();
	return size ? PLACE : 0;
}

PROBED int commit(unsigned long address, size_t size, within_fn *within)
{
	if (within)
		within();
	return address && size;
}

PROBED int create_thread(unsigned long thread, size_t size, within_fn *within)
{
	if (within)
		within();
	return thread && size;
}

PROBED void *allocate(size_t size, int tag, within_fn *within)
{
	static char block[16];

	if (within)
		within();
	return size + (size_t)tag ? block : NULL;
}

PROBED void verify(unsigned long klass)
{
	(void)klass;
	__asm__ volatile("");
}

PROBED void rewrite(unsigned long klass)
{
	(void)klass;
	__asm__ volatile("");
}

PROBED void link_methods(unsigned long klass)
{
	(void)klass;
	__asm__ volatile("");
}

PROBED void unlock(const volatile char *lock)
{
	(void)lock;
	__asm__ volatile("");
}

/* As the VM does; within: what an agent does that is told. */
PROBED void link_class(unsigned long klass, within_fn *within)
{
	volatile char lock[64] = { 0 };

	verify(klass);
	rewrite(klass);
	link_methods(klass);
	if (within)
		within();
	unlock(lock);
}

/* Calls it with the stack pointer below that of calls by who calls this. */
PROBED void further_down(within_fn *call)
{
	volatile char room[512];

	room[0] = 0;
	call();
	room[1] = room[0];
}

static void commit_one(void)
{
	commit(PLACE, 0x1000, NULL);
}

static void allocate_one(void)
{
	allocate(24, 3, NULL);
}

/* ---- the kernel's side */

static int map_fd(const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

static void set(const char *map, uint32_t key, const void *value)
{
	if (bpf_map_update_elem(map_fd(map), &key, value, BPF_ANY))
		perror(map);
}

/* The counters of target 0 on the CPU that all runs on. */
static void read_counters(const char *map, uint64_t *out, size_t count)
{
	size_t cpus = (size_t)libbpf_num_possible_cpus();
	uint64_t *each = calloc(cpus * count, sizeof(*each));
	uint32_t key = 0;

	memset(out, 0, count * sizeof(*out));
	if (each && !bpf_map_lookup_elem(map_fd(map), &key, each))
		for (size_t i = 0; i < cpus * count; i++)
			out[i % count] += each[i];
	free(each);
}

static void receive_link(const struct jvs_class_event *event)
{
	if (received.linked_count == RECORDS_MAX)
		return;
	received.linked[received.linked_count++] = (struct linked){
		.klass = event->klass,
		.time_ns = event->event.time_ns,
		.duration_ns = event->duration_ns,
		.verify_ns = event->verify_ns,
		.rewrite_ns = event->rewrite_ns,
	};
}

static int receive(void *context, void *data, size_t size)
{
	const struct jvs_event *event = data;

	(void)context;
	if (event->kind == JVS_EVENT_STACK_PART)
		received.stacks++;
	else if (event->kind == JVS_EVENT_CLASS_LINK)
		receive_link(data);
	else if (event->kind == JVS_EVENT_MAPPING && size == sizeof(struct jvs_mapped) &&
		 received.count < RECORDS_MAX)
		memcpy(&received.records[received.count++], data, size);
	return 0;
}

static void drain(void)
{
	struct ring_buffer *ring = ring_buffer__new(map_fd("jvs_events"), receive, NULL, NULL);

	memset(&received, 0, sizeof(received));
	ring_buffer__consume(ring);
	ring_buffer__free(ring);
}

/* Returns 0 or a negative errno. */
static int attach(const char *program, const char *function, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie, .func_name = function,
		    .retprobe = strstr(program, "_return") != NULL);
	struct bpf_program *of = bpf_object__find_program_by_name(object, program);
	struct bpf_link *link =
		bpf_program__attach_uprobe_opts(of, 0, "/proc/self/exe", 0, &options);

	if (!link) {
		fprintf(stderr, "%s: %s\n", function, strerror(errno));
		return -errno;
	}
	links[link_count++] = link;
	return 0;
}

static int attach_mapping(const char *function, uint64_t cookie, bool with_return)
{
	int err = attach("jvs_mapping_entry", function, cookie);

	return err || !with_return ? err : attach("jvs_mapping_return", function, cookie);
}

static int attach_native(bool with_return)
{
	int err = attach("jvs_native_entry", "allocate", JVS_NATIVE_MALLOC);

	return err || !with_return ? err
				   : attach("jvs_native_return", "allocate", JVS_NATIVE_MALLOC);
}

static int attach_linking(void)
{
	int err = attach("jvs_class_entry", "verify", JVS_CLASS_SITE_VERIFY);

	if (!err)
		err = attach("jvs_class_entry", "rewrite", JVS_CLASS_SITE_REWRITE);
	if (!err)
		err = attach("jvs_class_entry", "link_methods", JVS_CLASS_SITE_METHODS);
	return err ? err : attach("jvs_class_entry", "unlock", JVS_CLASS_SITE_UNLOCKED);
}

static void detach_all(void)
{
	while (link_count)
		bpf_link__destroy(links[--link_count]);
}

#define RESERVE JVS_MAPPING_COOKIE(JVS_MAPPING_RESERVE, 0, 1, 0)
#define COMMIT	JVS_MAPPING_COOKIE(JVS_MAPPING_COMMIT, 1, 2, 0)
#define STACK	JVS_MAPPING_COOKIE(JVS_MAPPING_STACK, 1, 2, 0)

/* ---- the tests */

static struct {
	uint64_t mapping[JVS_MAPPING_COUNT_NR];
	uint64_t native[JVS_NATIVE_COUNT_NR];
} before;

static uint64_t mappings(enum jvs_mapping_counter counter)
{
	uint64_t now[JVS_MAPPING_COUNT_NR];

	read_counters("jvs_mapping_counts", now, JVS_MAPPING_COUNT_NR);
	return now[counter] - before.mapping[counter];
}

static uint64_t natives(enum jvs_native_counter counter)
{
	uint64_t now[JVS_NATIVE_COUNT_NR];

	read_counters("jvs_native_counts", now, JVS_NATIVE_COUNT_NR);
	return now[counter] - before.native[counter];
}

/* This process is target 0. What a thread remembers of an earlier epoch does not count. */
static void become_target(void)
{
	static uint32_t epoch = 1;
	struct jvs_target target = { .flags = JVS_TARGET_ON };
	struct jvs_native_control native = { .mode = JVS_NATIVE_COUNTED | JVS_NATIVE_UNFOLLOWED,
					     .epoch = epoch };
	struct jvs_mapping_control mapping = { .epoch = epoch };
	uint32_t index = 0;

	set("jvs_targets", 0, &target);
	set("jvs_native_controls", 0, &native);
	set("jvs_mapping_controls", 0, &mapping);
	epoch++;
	set("jvs_pids", (uint32_t)getpid(), &index);
}

static void begin(void)
{
	become_target();
	drain();
	read_counters("jvs_mapping_counts", before.mapping, JVS_MAPPING_COUNT_NR);
	read_counters("jvs_native_counts", before.native, JVS_NATIVE_COUNT_NR);
}

/* Nor is a stack taken for the call within. */
static int a_call_within_another_is_told_with_it(void)
{
	EXPECT(!attach_mapping("reserve", RESERVE, true));
	EXPECT(!attach_mapping("commit", COMMIT, true));
	reserve(0x3000, commit_one);
	drain();
	EXPECT(received.count == 1 && received.stacks == 1);
	EXPECT(received.records[0].op == JVS_MAPPING_RESERVE);
	EXPECT(received.records[0].address == PLACE && received.records[0].size == 0x3000);
	EXPECT(mappings(JVS_MAPPING_COUNT_CALLS) == 2);
	EXPECT(mappings(JVS_MAPPING_COUNT_NESTED) == 1);
	EXPECT(mappings(JVS_MAPPING_COUNT_NO_RETURN) == 0);
	return 0;
}

static int what_is_mapped_for_a_thread_is_beside_its_stack(void)
{
	EXPECT(!attach_mapping("create_thread", STACK, true));
	EXPECT(!attach_mapping("commit", COMMIT, true));
	create_thread(THREAD, 0x5000, commit_one);
	drain();
	EXPECT(received.count == 2);
	EXPECT(received.records[0].op == JVS_MAPPING_COMMIT);
	EXPECT(received.records[0].address == PLACE && received.records[0].size == 0x1000);
	EXPECT(received.records[1].op == JVS_MAPPING_STACK);
	EXPECT(received.records[1].address == THREAD && received.records[1].size == 0x5000);
	EXPECT(mappings(JVS_MAPPING_COUNT_NESTED) == 0);
	return 0;
}

static int an_unseen_return_loses_one_mapping(void)
{
	EXPECT(!attach_mapping("reserve", RESERVE, false));
	EXPECT(!attach_mapping("commit", COMMIT, true));
	reserve(0x3000, NULL);
	for (int i = 0; i < 3; i++)
		further_down(commit_one);
	drain();
	EXPECT(received.count == 3);
	EXPECT(received.records[0].op == JVS_MAPPING_COMMIT);
	EXPECT(mappings(JVS_MAPPING_COUNT_NO_RETURN) == 1);
	EXPECT(mappings(JVS_MAPPING_COUNT_NESTED) == 0);
	return 0;
}

static void reserve_one(void)
{
	reserve(0x3000, NULL);
}

/* The next call is further up: no question to the kernel is needed. */
static int an_unseen_return_is_counted_from_above(void)
{
	EXPECT(!attach_mapping("reserve", RESERVE, false));
	EXPECT(!attach_mapping("commit", COMMIT, true));
	further_down(reserve_one);
	commit_one();
	drain();
	EXPECT(received.count == 1 && received.records[0].op == JVS_MAPPING_COMMIT);
	EXPECT(mappings(JVS_MAPPING_COUNT_NO_RETURN) == 1);
	return 0;
}

static int an_allocation_within_another_is_counted_with_it(void)
{
	EXPECT(!attach_native(true));
	allocate(100, 3, allocate_one);
	EXPECT(natives(JVS_NATIVE_COUNT_ENTRIES) == 2);
	EXPECT(natives(JVS_NATIVE_COUNT_ALLOCATIONS) == 1);
	EXPECT(natives(JVS_NATIVE_COUNT_ALLOCATED_BYTES) == 100);
	EXPECT(natives(JVS_NATIVE_COUNT_NESTED) == 1);
	EXPECT(natives(JVS_NATIVE_COUNT_NO_RETURN) == 0);
	return 0;
}

static int an_unseen_return_loses_one_allocation(void)
{
	EXPECT(!attach_native(false));
	allocate(100, 3, NULL);
	EXPECT(natives(JVS_NATIVE_COUNT_ALLOCATIONS) == 0);
	EXPECT(!attach("jvs_native_return", "allocate", JVS_NATIVE_MALLOC));
	for (int i = 0; i < 3; i++)
		further_down(allocate_one);
	EXPECT(natives(JVS_NATIVE_COUNT_ALLOCATIONS) == 3);
	EXPECT(natives(JVS_NATIVE_COUNT_NO_RETURN) == 1);
	EXPECT(natives(JVS_NATIVE_COUNT_NESTED) == 0);
	return 0;
}

#define CLASS 0x1000ul /* the first of the classes that are linked */

static unsigned long next_class;
static unsigned int levels; /* more to be linked within one another */

static void link_next(void)
{
	next_class++;
	levels--;
	link_class(next_class, levels ? link_next : NULL);
}

static void link_so_many(unsigned int count)
{
	next_class = CLASS;
	levels = count;
	link_next();
}

static uint64_t lost_links(void)
{
	uint32_t key = JVS_CLASS_COUNT_EVENT_LOST;
	static uint64_t before;
	uint64_t each[1024] = { 0 }, sum = 0, lost;

	if (libbpf_num_possible_cpus() > 1024 ||
	    bpf_map_lookup_elem(map_fd("jvs_class_counts"), &key, each))
		return UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(each); i++)
		sum += each[i];
	lost = sum - before;
	before = sum;
	return lost;
}

static int classes_that_are_linked_within_others_are_told(void)
{
	lost_links();
	EXPECT(!attach_linking());
	link_so_many(4);
	drain();
	EXPECT(received.linked_count == 4);
	for (size_t i = 0; i < 4; i++) {
		const struct linked *linked = &received.linked[i];

		EXPECT(linked->klass == CLASS + 4 - i);
		EXPECT(linked->verify_ns && linked->rewrite_ns);
		EXPECT(linked->duration_ns > linked->verify_ns + linked->rewrite_ns);
	}
	for (size_t i = 1; i < 4; i++)
		EXPECT(received.linked[i].duration_ns > received.linked[i - 1].duration_ns);
	EXPECT(lost_links() == 0);
	return 0;
}

static int too_many_within_one_another_are_counted(void)
{
	lost_links();
	EXPECT(!attach_linking());
	link_so_many(6);
	drain();
	EXPECT(received.linked_count == 4 && received.linked[3].klass == CLASS + 1);
	EXPECT(lost_links() == 2);
	link_so_many(1);
	drain();
	EXPECT(received.linked_count == 1 && received.linked[0].klass == CLASS + 1);
	EXPECT(lost_links() == 0);
	return 0;
}

static int linking_begins_anew_after_a_failed_verification(void)
{
	struct timespec now;
	uint64_t start_ns;

	EXPECT(!attach_linking());
	verify(CLASS);
	clock_gettime(CLOCK_MONOTONIC, &now);
	start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	link_class(CLASS, NULL);
	drain();
	EXPECT(received.linked_count == 1 && received.linked[0].klass == CLASS);
	EXPECT(received.linked[0].verify_ns);
	EXPECT(received.linked[0].time_ns - received.linked[0].duration_ns >= start_ns);
	return 0;
}

static void carry_new_code(void)
{
	verify(CLASS);
	link_methods(CLASS);
}

/* It is linked without a lock: the next one is not its. */
static int new_code_for_a_class_is_no_linking(void)
{
	EXPECT(!attach_linking());
	further_down(carry_new_code);
	link_class(CLASS + 1, NULL);
	drain();
	EXPECT(received.linked_count == 1 && received.linked[0].klass == CLASS + 1);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} tests[] = {
	{ "a call within another is told with it", a_call_within_another_is_told_with_it },
	{ "what is mapped for a thread is beside its stack",
	  what_is_mapped_for_a_thread_is_beside_its_stack },
	{ "an unseen return loses one mapping", an_unseen_return_loses_one_mapping },
	{ "an unseen return is counted from above", an_unseen_return_is_counted_from_above },
	{ "an allocation within another is counted with it",
	  an_allocation_within_another_is_counted_with_it },
	{ "an unseen return loses one allocation", an_unseen_return_loses_one_allocation },
	{ "classes that are linked within others are told",
	  classes_that_are_linked_within_others_are_told },
	{ "too many within one another are counted", too_many_within_one_another_are_counted },
	{ "linking begins anew after a failed verification",
	  linking_begins_anew_after_a_failed_verification },
	{ "new code for a class is no linking", new_code_for_a_class_is_no_linking },
};

/* The slots of the object are for few CPUs: all is done on the first that is allowed. */
static int stay_on_one_cpu(void)
{
	cpu_set_t cpus;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -1;
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

static int load(const char *path)
{
	static const char *const wanted[] = { "jvs_mapping_entry", "jvs_mapping_return",
					      "jvs_native_entry", "jvs_native_return",
					      "jvs_class_entry" };
	struct bpf_program *program;

	object = bpf_object__open_file(path, NULL);
	if (!object)
		return -1;
	bpf_object__for_each_program(program, object)
	{
		bool load = false;

		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			load |= !strcmp(bpf_program__name(program), wanted[i]);
		bpf_program__set_autoload(program, load);
	}
	return bpf_object__load(object);
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: calls OBJECT\n");
		return 2;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (stay_on_one_cpu() || load(argv[1]))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		begin();
		if (tests[i].run()) {
			printf("FAILED: %s\n", tests[i].name);
			failed++;
		}
		detach_all();
	}
	printf("%zu passed, %d failed, 0 skipped\n", ARRAY_SIZE(tests) - (size_t)failed, failed);
	bpf_object__close(object);
	return failed != 0;
}
