/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "live/process.h"
#include "live/resolve.h"
#include "model/recording.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

static struct process process;
static struct resolver resolver;
static struct recording *rec;

static void setup(void)
{
	fakes_reset();
	rec = rec_new();
	process = (struct process){ .jvm = fake_jvm() };
	process.rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = 1 });
	resolver = (struct resolver){ 0 };
}

static void teardown(void)
{
	resolve_free(&resolver);
	rec_free(rec);
	fakes_reset();
}

/* What the JVM says of all its frames from now on. */
static void method_is(uint32_t number, const char *class_name)
{
	fakes.method = (struct jvm_method){
		.class_name = class_name, .name = "run", .signature = "()V", .number = number
	};
}

/* The class of frame at of a stack of so many frames of one kind, which differ by their bci. */
static const char *class_in_stack(uint32_t kind, uint32_t count, uint32_t at)
{
	struct jvs_frame *frames = calloc(count, sizeof(*frames));
	struct raw_stack raw = {
		.frames = frames, .stored = count, .walked = count, .status = JVS_STATUS_END
	};
	const struct rec_method *method;
	struct rec_stack stack;
	uint32_t id;

	for (uint32_t i = 0; i < count; i++)
		frames[i] = (struct jvs_frame){ jvs_frame_word(0x1000, kind, 0), i, 7 };
	id = resolve_stack(&resolver, &process, rec, &raw);
	free(frames);
	stack = rec_stack_get(rec, id);
	ASSERT_INT(stack.count, count);
	method = rec_method_get(rec, rec_frame_get(rec, stack.frames[at])->method);
	return rec_text(rec, method->class_name);
}

static const char *class_of(uint32_t kind)
{
	return class_in_stack(kind, 1, 0);
}

static void a_frame_is_named_once(void)
{
	method_is(1, "A");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_INTERPRETED), "A");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_INTERPRETED), "A");
	ASSERT_INT(fakes.described, 1);
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_NMETHOD), "A");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_NMETHOD), "A");
	ASSERT_INT(fakes.described, 2);
}

static void frames_of_a_long_stack_keep_their_places(void)
{
	enum { COUNT = 150 };

	method_is(1, "A");
	CU_ASSERT_STRING_EQUAL(class_in_stack(JVS_FRAME_INTERPRETED, COUNT, COUNT - 1), "A");
	ASSERT_INT(fakes.described, COUNT);
	CU_ASSERT_STRING_EQUAL(class_in_stack(JVS_FRAME_INTERPRETED, COUNT, 64), "A");
	ASSERT_INT(fakes.described, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct rec_stack stack = rec_stack_get(rec, 1);

		ASSERT_INT(rec_frame_get(rec, stack.frames[i])->bci, i);
	}
}

/* Method and ConstMethod at the addresses of unloaded ones: the frame alone is the same. */
static void a_method_at_addresses_of_another_has_its_own_name(void)
{
	method_is(1, "A");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_INTERPRETED), "A");
	method_is(2, "B");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_INTERPRETED), "B");
	method_is(1, "A");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_INTERPRETED), "A");
	ASSERT_INT(fakes.described, 2);
}

/* After exec numbers begin again, and addresses may be the same. */
static void another_program_has_its_own_names(void)
{
	method_is(1, "A");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_NMETHOD), "A");
	process.programs++;
	method_is(1, "B");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_NMETHOD), "B");
}

static void a_frame_without_a_name_is_asked_for_again(void)
{
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_NMETHOD), "");
	ASSERT_INT(resolver.unnamed_java, 1);
	method_is(1, "A");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_NMETHOD), "A");
}

static void the_next_recording_has_its_own_ids(void)
{
	method_is(1, "A");
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_INTERPRETED), "A");
	rec_free(rec);
	rec = rec_new();
	resolve_forget(&resolver);
	rec_string(rec, "other", 5);
	CU_ASSERT_STRING_EQUAL(class_of(JVS_FRAME_INTERPRETED), "A");
}

static CU_TestInfo tests[] = {
	{ "a frame is named once", a_frame_is_named_once },
	{ "frames of a long stack keep their places", frames_of_a_long_stack_keep_their_places },
	{ "a method at addresses of another has its own name",
	  a_method_at_addresses_of_another_has_its_own_name },
	{ "another program has its own names", another_program_has_its_own_names },
	{ "a frame without a name is asked for again", a_frame_without_a_name_is_asked_for_again },
	{ "the next recording has its own ids", the_next_recording_has_its_own_ids },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_resolve_suite = {
	.pName = "live resolve",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
