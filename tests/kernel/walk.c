/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk OBJECT: the kernel walks stacks that are made up in this process, and finds what the same
 * code compiled for this process finds. Also: stacks arrive in parts, once. And what a frame costs.
 *
 * OBJECT is walk.bpf.c linked with the product's objects. Last line: "N passed, N failed, N
 * skipped".
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kernel/expect.h"
#include "tests/kernel/object.h"
#include "tests/kernel/request.h"
#include "unit/bpf_world.h"

#define RETURN_INTO_VM (LIBRARY + 0x1000)
#define ROOT	       (LIBRARY + 0x1300)
#define BYTECODES      (INTERPRETER + 0x4000)
#define TIMED_WALKS    400

static struct bpf_object *object;
static struct walk_request request;
static __u64 stack_top; /* the next frame's place */

/* What came through the ring. */
static struct received {
	__u32 parts;
	__u32 frames;
	__u32 walked;
	__u64 hash;
	bool damaged;
	struct jvs_frame frame[FRAMES_MAX];
} received;

/* ---- stacks, made from the leaf outwards */

static void begin_stack(void)
{
	world_reset();
	put_row(0x1000, JVS_ROW_SP, 1, 0);
	put_row(0x1300, JVS_ROW_END, 0, 0);
	world.target.flags = JVS_TARGET_ON | JVS_TARGET_JAVA;
	world.target.mappings = 1ull << 32;
	world.walk.flags = world.target.flags;
	stack_top = SP;
}

/* The call stub, called by the thread's root. */
static __u64 put_call_stub(__u64 frames_end)
{
	__u64 pc = put_blob(NAME_STUBS, 8, 0, 0) + BLOB_CODE + 0x20;

	world.target.java.call_stub_return = pc;
	put_words(frames_end, 0, ROOT + 4);
	return pc;
}

/* So many compiled frames of 6 words; then two more. */
static void compiled_stack(__u32 frames)
{
	__u64 end = SP + frames * 48ull + 16, pc, stub;

	begin_stack();
	stub = put_call_stub(end);
	pc = put_method(6, 8, 77) + BLOB_CODE + 0x40;
	world.walk.pc = pc;
	for (__u32 i = 0; i < frames; i++, stack_top += 48)
		put_words(stack_top + 32, end, i + 1 < frames ? pc : stub);
}

/* So many interpreted frames of 11 words. */
static void interpreted_stack(__u32 frames)
{
	begin_stack();
	world.walk.pc = BYTECODES;
	world.walk.fp = stack_top + 72;
	for (__u32 i = 0; i < frames; i++, stack_top += 88)
		put_words(stack_top + 8, BYTECODE + i % 90, 0, 0, 0, 0, METHOD, 0, stack_top + 88,
			  stack_top + 160, i + 1 < frames ? BYTECODES : ROOT + 4);
}

/* So many native frames, each a word. */
static void native_stack(__u32 frames)
{
	begin_stack();
	world.walk.pc = RETURN_INTO_VM + 4;
	for (__u32 i = 1; i < frames; i++, stack_top += 8)
		put_u64(stack_top, i + 1 < frames ? RETURN_INTO_VM + 4 : ROOT + 4);
}

/* ---- the kernel's side */

static int map_fd(const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

static void set(const char *map, __u32 key, const void *value)
{
	if (bpf_map_update_elem(map_fd(map), &key, value, BPF_ANY))
		perror(map);
}

/* The world's memory at the addresses it claims. Returns 0 or -1. */
static int make_real(void)
{
	static const struct world_region regions[] = {
		{ LIBRARY, LIBRARY_END - LIBRARY, NULL },
		{ HEAP, HEAP_SIZE, NULL },
		{ SEGMAP, 4096, NULL },
		{ META, META_SIZE, NULL },
		{ STACK, STACK_SIZE, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(regions); i++) {
		void *at = (void *)(uintptr_t)regions[i].start;

		if (mmap(at, regions[i].size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1,
			 0) != at) {
			perror("mmap");
			return -1;
		}
	}
	return 0;
}

static void install_world(void)
{
	memcpy((void *)(uintptr_t)LIBRARY, world.native, sizeof(world.native));
	memcpy((void *)(uintptr_t)HEAP, world.heap, sizeof(world.heap));
	memcpy((void *)(uintptr_t)SEGMAP, world.segmap, sizeof(world.segmap));
	memcpy((void *)(uintptr_t)META, world.meta, sizeof(world.meta));
	memcpy((void *)(uintptr_t)STACK, world.stack, sizeof(world.stack));
	set("jvs_targets", 0, &world.target);
	set("jvs_mappings", 0, &world.mappings[0]);
	for (__u32 i = 0; i < world.row_count; i++)
		set("jvs_rows", i, &world.rows[i]);
}

static int run_in_kernel(__u32 times, __u32 send)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));
	struct bpf_program *program = bpf_object__find_program_by_name(object, "walk");

	request = (struct walk_request){ .pc = world.walk.pc,
					 .sp = world.walk.sp,
					 .fp = world.walk.fp,
					 .times = times,
					 .send = send };
	received = (struct received){ 0 };
	install_world();
	if (bpf_prog_test_run_opts(bpf_program__fd(program), &options)) {
		perror("bpf_prog_test_run_opts");
		return -1;
	}
	return (int)options.retval;
}

static int receive(void *context, void *data, size_t size)
{
	const struct jvs_stack_part *part = data;

	if (size != JVS_STACK_PART_HEADER + part->count * sizeof(struct jvs_frame) ||
	    part->event.kind != JVS_EVENT_STACK_PART || part->first != received.frames ||
	    part->first + part->count > part->stored || part->stored > FRAMES_MAX) {
		received.damaged = true;
		return 0;
	}
	memcpy(received.frame + part->first, part->frames, part->count * sizeof(struct jvs_frame));
	received.parts++;
	received.frames += part->count;
	received.walked = part->walked;
	received.hash = part->stack;
	(void)context;
	return 0;
}

static void drain(void)
{
	struct ring_buffer *ring = ring_buffer__new(map_fd("jvs_events"), receive, NULL, NULL);

	ring_buffer__consume(ring);
	ring_buffer__free(ring);
}

/* ---- the tests */

/* The walk by the code compiled here; returns its status. */
static int run_here(void)
{
	int result = JVS_STATUS_RUN;

	for (__u32 i = 0; i < JVS_WALK_LIMIT + 8 && result == JVS_STATUS_RUN; i++)
		result = jvs_step(&world.walk);
	return result;
}

static int same_as_here(void)
{
	int status;

	EXPECT(run_in_kernel(1, 2) == 0);
	drain();
	status = run_here();
	EXPECT((int)request.status == status);
	EXPECT(request.walked == world.walk.walked);
	EXPECT(!received.damaged && received.walked == request.walked);
	EXPECT(received.frames == request.walked);
	for (__u32 i = 0; i < received.frames; i++)
		EXPECT(!memcmp(&received.frame[i], frame(i), sizeof(struct jvs_frame)));
	return 0;
}

static int compiled_frames(void)
{
	compiled_stack(500);
	return same_as_here();
}

static int interpreted_frames(void)
{
	interpreted_stack(1000);
	return same_as_here();
}

static int native_frames(void)
{
	native_stack(1000);
	return same_as_here();
}

static int broken_stack(void)
{
	compiled_stack(20);
	put_u64(SP + 10 * 48 + 40, 0x1234);
	for (__u32 i = 11; i < 20; i++)
		put_u64(SP + i * 48 + 40, 0);
	EXPECT(!same_as_here());
	EXPECT(request.status == JVS_STATUS_NMETHOD_RA);
	EXPECT(request.walked == 11);
	return 0;
}

static void forget_stack(__u64 hash)
{
	__u32 index = hash & (JVS_SEEN_STACKS - 2);
	__u64 none = 0;

	set("jvs_seen_stacks", index, &none);
	set("jvs_seen_stacks", index + 1, &none);
}

static int stacks_are_sent_once(void)
{
	__u64 hash;

	compiled_stack(129);
	EXPECT(run_in_kernel(1, 1) == 0);
	drain();
	EXPECT(received.parts == 3 && received.frames == 131 && !received.damaged);
	hash = received.hash;
	EXPECT(hash == request.hash);

	EXPECT(run_in_kernel(1, 1) == 0);
	drain();
	EXPECT(received.parts == 0 && request.hash == hash);

	/* Unless userspace has forgotten it. */
	forget_stack(hash);
	EXPECT(run_in_kernel(1, 1) == 0);
	drain();
	EXPECT(received.parts == 3 && received.hash == hash);
	return 0;
}

/* Longer than the limit of this object: the leaf side in order, then the circle. */
static int outermost_frames_are_kept(void)
{
	__u32 kept = FRAMES_MAX - JVS_ROOT_FRAMES, walked = FRAMES_MAX + 100, last;

	native_stack(walked);
	EXPECT(run_in_kernel(1, 2) == 0);
	drain();
	EXPECT(request.status == JVS_STATUS_END && request.walked == walked);
	EXPECT(received.frames == FRAMES_MAX && received.walked == walked);
	last = kept + (walked - 1 - FRAMES_MAX) % JVS_ROOT_FRAMES;
	EXPECT((received.frame[last].word & JVS_ADDRESS_MASK) == ROOT + 4);
	return 0;
}

static int full_ring_is_told(void)
{
	__u32 failed = 0;

	native_stack(1000);
	for (int i = 0; i < 1000 && !failed; i++) {
		EXPECT(run_in_kernel(1, 2) == 0);
		failed = request.send_failed;
	}
	EXPECT(failed);
	/* A stack that did not go through is not taken for known. */
	forget_stack(request.hash);
	EXPECT(run_in_kernel(1, 1) == 0);
	EXPECT(request.send_failed);
	drain();
	EXPECT(run_in_kernel(1, 1) == 0);
	EXPECT(!request.send_failed);
	drain();
	EXPECT(received.frames == 1000);
	return 0;
}

static int time_of(const char *what)
{
	double best = 0, ns;

	for (int i = 0; i < 20; i++) {
		EXPECT(run_in_kernel(TIMED_WALKS / 20, 0) == 0);
		ns = (double)request.walk_ns / (TIMED_WALKS / 20) / request.walked;
		best = i == 0 || ns < best ? ns : best;
	}
	printf("%-12s %5u frames, %4.0f ns per frame at best\n", what, request.walked, best);
	return 0;
}

static int costs(void)
{
	compiled_stack(500);
	EXPECT(!time_of("compiled"));
	interpreted_stack(1000);
	EXPECT(!time_of("interpreted"));
	native_stack(1000);
	return time_of("native");
}

static const struct {
	const char *name;
	int (*run)(void);
} tests[] = {
	{ "compiled frames as here", compiled_frames },
	{ "interpreted frames as here", interpreted_frames },
	{ "native frames as here", native_frames },
	{ "a broken stack as here", broken_stack },
	{ "stacks are sent once", stacks_are_sent_once },
	{ "outermost frames are kept", outermost_frames_are_kept },
	{ "a full ring is told", full_ring_is_told },
	{ "cost of a frame", costs },
};

static int load(const char *path)
{
	struct bpf_program *program;
	struct bpf_map *map;

	object = bpf_object__open_file(path, NULL);
	if (!object)
		return -1;
	bpf_object__for_each_program(program, object)
	{
		bool wanted = !strcmp(bpf_program__name(program), "walk");

		bpf_program__set_autoload(program, wanted);
	}
	map = bpf_object__find_map_by_name(object, "jvs_parts");
	bpf_map__set_max_entries(map, FRAMES_MAX / JVS_PART_FRAMES);
	if (object_set_constant(object, "jvs_max_depth", FRAMES_MAX) ||
	    object_set_constant(object, "jvs_parts_per_slot", FRAMES_MAX / JVS_PART_FRAMES))
		return -1;
	return bpf_object__load(object);
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: walk OBJECT\n");
		return 2;
	}
	if (make_real() || load(argv[1]))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		if (tests[i].run()) {
			printf("FAILED: %s\n", tests[i].name);
			failed++;
		}
	}
	printf("%zu passed, %d failed, 0 skipped\n", ARRAY_SIZE(tests) - (size_t)failed, failed);
	bpf_object__close(object);
	return failed != 0;
}
