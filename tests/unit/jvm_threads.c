/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "jvm/threads.h"
#include "target/maps.h"
#include "unit/jvm_fake.h"
#include "unit/unit.h"

#define THREADS 3

static struct target *self;
static struct hotspot hotspot;
static struct jvm_thread *threads;
static size_t count;
static _Alignas(8) uint8_t java_threads[THREADS][4096];
static _Alignas(8) uint8_t os_threads[THREADS][256];
static _Alignas(8) uint8_t list[64];
static const void *thread_pointers[THREADS];
static const void *list_pointer;

static void make_jvm(int jdk)
{
	struct fields *f = &hotspot.field;

	ASSERT_INT(fake_hotspot(self, jdk, &hotspot), 0);
	memset(java_threads, 0, sizeof(java_threads));
	memset(os_threads, 0, sizeof(os_threads));
	memset(list, 0, sizeof(list));
	for (uint64_t i = 0; i < THREADS; i++) {
		thread_pointers[i] = java_threads[i];
		fake_put(os_threads[i], f->os_thread_id, 100 + i);
		fake_put(java_threads[i], f->thread_os_thread, fake_address(os_threads[i]));
		fake_put(java_threads[i], f->thread_state, 4);
		if (field_exists(f->thread_next) && i + 1 < THREADS)
			fake_put(java_threads[i], f->thread_next,
				 fake_address(java_threads[i + 1]));
	}
	if (field_exists(f->thread_list)) {
		fake_put(list, f->threads_length, THREADS);
		fake_put(list, f->threads_array, fake_address(thread_pointers));
		list_pointer = list;
		f->thread_list.at = fake_address(&list_pointer);
	} else {
		list_pointer = java_threads[0];
		f->first_thread.at = fake_address(&list_pointer);
	}
}

static void setup(void)
{
	CU_ASSERT_FATAL(target_open(getpid(), &self) == 0);
	threads = NULL;
}

static void teardown(void)
{
	free(threads);
	target_close(self);
}

static int read_threads(void)
{
	free(threads);
	threads = NULL;
	return threads_read(self, &hotspot, &threads, &count);
}

static void reads_both_kinds_of_lists(void)
{
	static const struct {
		int jdk;
		uint32_t state;
	} cases[] = { { 8, 4 }, { 11, 4 }, { 17, 4 }, { 25, 4 }, { 28, 8 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make_jvm(cases[i].jdk);
		ASSERT_INT(read_threads(), 0);
		ASSERT_INT(count, THREADS);
		for (size_t k = 0; k < THREADS; k++) {
			CU_ASSERT(threads[k].java_thread == fake_address(java_threads[k]));
			ASSERT_INT(threads[k].ns_tid, 100 + k);
			ASSERT_INT(threads[k].state, cases[i].state);
		}
	}
}

static void leaves_out_threads_that_are_gone(void)
{
	make_jvm(17);
	thread_pointers[0] = (const void *)(uintptr_t)16;
	fake_put(java_threads[1], hotspot.field.thread_os_thread, 0);
	ASSERT_INT(read_threads(), 0);
	ASSERT_INT(count, 1);
	ASSERT_INT(threads[0].ns_tid, 102);

	/* The rest of a linked list is lost with it. */
	make_jvm(11);
	fake_put(java_threads[1], hotspot.field.thread_next, 16);
	ASSERT_INT(read_threads(), 0);
	ASSERT_INT(count, 2);
}

static void survives_lists_that_make_no_sense(void)
{
	make_jvm(17);
	list_pointer = NULL;
	ASSERT_INT(read_threads(), 0);
	ASSERT_INT(count, 0);
	list_pointer = (const void *)(uintptr_t)16;
	ASSERT_INT(read_threads(), -EFAULT);
	list_pointer = list;
	fake_put(list, hotspot.field.threads_length, 0xffffffff);
	ASSERT_INT(read_threads(), -EFAULT);
	CU_ASSERT_PTR_NULL(threads);

	/* A circle ends at the limit. */
	make_jvm(8);
	fake_put(java_threads[2], hotspot.field.thread_next, fake_address(java_threads[0]));
	ASSERT_INT(read_threads(), 0);
	CU_ASSERT(count > 1000);

	make_jvm(17);
	hotspot.field.thread_list = (struct field){ 0 };
	ASSERT_INT(read_threads(), -ENOENT);
}

/* ---- what is no JVM at all */

static int open_self(void)
{
	struct maps maps;
	struct jvm *jvm;
	int err;

	CU_ASSERT_FATAL(maps_read(getpid(), &maps) == 0);
	err = jvm_open(self, &maps, &jvm);
	maps_free(&maps);
	return err;
}

static void refuses_what_is_no_jvm(void)
{
	static const char *const contents[] = { "not an ELF file\n",
						"\x7f"
						"ELF",
						"" };
	char folder[] = "/tmp/jvmscope.XXXXXX";
	char path[64];
	void *mapped;
	int fd;

	ASSERT_INT(open_self(), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/libjvm.so", folder);
	for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		CU_ASSERT_FATAL(fd >= 0);
		CU_ASSERT(write(fd, contents[i], strlen(contents[i])) ==
			  (ssize_t)strlen(contents[i]));
		mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
		CU_ASSERT_FATAL(mapped != MAP_FAILED);
		ASSERT_INT(open_self(), -ENOENT);
		munmap(mapped, 4096);
		close(fd);
	}
	unlink(path);
	rmdir(folder);
}

static CU_TestInfo tests[] = {
	{ "reads both kinds of lists", reads_both_kinds_of_lists },
	{ "leaves out threads that are gone", leaves_out_threads_that_are_gone },
	{ "survives lists that make no sense", survives_lists_that_make_no_sense },
	{ "refuses what is no JVM", refuses_what_is_no_jvm },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_threads_suite = {
	.pName = "jvm threads",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
