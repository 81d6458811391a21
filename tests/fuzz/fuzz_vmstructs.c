/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "jvm/cmdline.h"
#include "jvm/codeheap.h"
#include "jvm/debuginfo.h"
#include "jvm/method.h"
#include "jvm/nmethod.h"
#include "jvm/threads.h"
#include "jvm/vmstructs.h"
#include "target/target.h"
#include "unit/jvm_fake.h"

/*
 * A JVM whose memory is the input. The first byte says what is read from it: packed debug
 * information, a command line, the tables, or structures laid out as one of the JDKs has them.
 *
 * An input cannot know our addresses, so a word with 0x55 in its upper byte stands for a place in
 * the input.
 */
#define MEMORY_BYTES 16384

static _Alignas(8) uint8_t memory[MEMORY_BYTES];
static struct target *self;

static void load(const uint8_t *bytes, size_t size)
{
	uint64_t word;

	memset(memory, 0, sizeof(memory));
	memcpy(memory, bytes, size < sizeof(memory) ? size : sizeof(memory));
	for (size_t at = 0; at < sizeof(memory); at += sizeof(word)) {
		memcpy(&word, memory + at, sizeof(word));
		if (word >> 56 != 0x55)
			continue;
		word = fake_address(memory) + word % sizeof(memory);
		memcpy(memory + at, &word, sizeof(word));
	}
}

static void fuzz_debuginfo(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = fuzz_copy(bytes, size);
	struct scope scope = { 0 };
	uint32_t found = 0;
	size_t used;

	for (unsigned int bias = 0; bias < 2; bias++) {
		used = debuginfo_line_table_size(copy, size, bias);
		FUZZ_ASSERT(used <= size);
		for (int bci = -1; bci < 20; bci++)
			FUZZ_ASSERT(debuginfo_line(copy, size, bias, bci) >= -1);
		for (uint32_t at = 0; at < size + 2; at++) {
			if (!debuginfo_scope(copy, size, bias, at, &scope))
				FUZZ_ASSERT(scope.sender < at && scope.bci >= -1);
		}
	}
	for (uint32_t offset = 0; offset < 64; offset++)
		debuginfo_find_pc(copy, size / PC_DESC_BYTES, offset, offset & 1, &found);
	free(copy);
}

static void fuzz_cmdline(const uint8_t *bytes, size_t size)
{
	char *copy = (char *)fuzz_copy(bytes, size);
	char to[64];

	cmdline_main_class(copy, size, to, sizeof(to));
	FUZZ_ASSERT(strnlen(to, sizeof(to)) < sizeof(to));
	cmdline_arguments(copy, size, to, sizeof(to));
	FUZZ_ASSERT(strnlen(to, sizeof(to)) < sizeof(to));
	free(copy);
}

/* Strides and columns as they are, or from the input. */
static void fuzz_tables(bool given_columns)
{
	struct vmstructs_table tables[VMSTRUCTS_TABLES];
	static const struct fake_tables none;
	struct hotspot hotspot;
	struct vmstructs vm;

	fake_describe(&none, tables);
	if (given_columns)
		memcpy(tables, memory, sizeof(tables));
	else
		for (size_t i = 0; i < VMSTRUCTS_TABLES; i++)
			tables[i].array = fake_address(memory + i * (MEMORY_BYTES / 4));
	if (vmstructs_read(self, tables, &vm))
		return;
	layout_read(&vm, getpid(), &hotspot);
	vmstructs_free(&vm);
}

static void fuzz_code(const struct hotspot *h)
{
	struct jvs_java_layout layout = { 0 };
	struct codeheap_search search = { 0 };
	struct blob blob;

	if (codeheap_read(self, h, &layout))
		return;
	codeheap_interpreter(self, h, &layout);
	codeheap_search(self, h, &search, &layout);
	for (size_t at = 0; at < sizeof(memory); at += 512)
		codeheap_find(self, h, &layout, fake_address(memory + at), &blob);
}

static void fuzz_frames(const struct hotspot *h, unsigned int bias)
{
	struct methods methods = { .target = self, .hotspot = h, .bias = bias };
	struct nmethods nmethods = { .target = self, .hotspot = h, .methods = &methods };
	struct nmethod *nmethod;
	const struct method *method;
	struct jvm_frame frames[JVM_INLINE_MAX];
	uint32_t id;

	for (size_t at = 0; at < sizeof(memory) / 2; at += 1024) {
		if (!methods_get(&methods, fake_address(memory + at), &method))
			method_line(&methods, method, 5);
		memcpy(&id, memory + at + h->field.nmethod_compile_id.at, sizeof(id));
		if (nmethods_get(&nmethods, fake_address(memory + at), id, &nmethod))
			continue;
		for (uint32_t offset = 0; offset < 64; offset += 7)
			FUZZ_ASSERT(nmethod_describe(&nmethods, nmethod, offset, offset & 1,
						     frames) <= JVM_INLINE_MAX);
	}
	nmethods_free(&nmethods);
	methods_free(&methods);
}

static void fuzz_threads(const struct hotspot *h)
{
	struct jvm_thread *threads;
	size_t count;

	if (!threads_read(self, h, &threads, &count))
		free(threads);
}

/* The static variables are at the start of the input. */
static void fuzz_structures(int jdk)
{
	struct hotspot h;

	FUZZ_ASSERT(fake_hotspot(self, jdk, &h) == 0);
	h.field.code_heaps.at = fake_address(memory);
	h.field.code_heap.at = fake_address(memory + 8);
	h.field.interpreter_code.at = fake_address(memory + 16);
	h.field.call_stub_return.at = fake_address(memory + 24);
	h.field.thread_list.at = fake_address(memory + 32);
	h.field.first_thread.at = fake_address(memory + 40);
	fuzz_code(&h);
	fuzz_frames(&h, jdk >= 20);
	fuzz_threads(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const int jdks[] = { 8, 11, 17, 21, 25, 26, 28 };
	uint8_t what;

	if (!self) {
		log_set_level(LOG_LEVEL_ERROR);
		FUZZ_ASSERT(target_open(getpid(), &self) == 0);
	}
	if (!size)
		return 0;
	what = bytes[0] % 16;
	load(bytes + 1, size - 1);
	if (what < 2)
		fuzz_debuginfo(bytes + 1, size - 1 < 4096 ? size - 1 : 4096);
	else if (what == 2)
		fuzz_cmdline(bytes + 1, size - 1);
	else if (what < 5)
		fuzz_tables(what == 3);
	else
		fuzz_structures(jdks[(size_t)(what - 5) % 7]);
	return 0;
}
