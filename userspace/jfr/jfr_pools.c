/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_pools_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map64.h"
#include "base/strbuf.h"
#include "model/classes.h"
#include "model/names.h"

#define FIRST_CAPACITY	1024
#define CHECKPOINT_MASK 1 /* of a flush, as async-profiler's */

/* Unnamed code has no method in a recording: its frame stands for one. */
#define UNNAMED_FIRST 0x20000000u
_Static_assert(REC_MAX_METHODS < UNNAMED_FIRST - 1 && REC_MAX_FRAMES < UNNAMED_FIRST, "ids differ");

#define MODIFIER_NATIVE 0x100 /* of frames that are no Java methods, as async-profiler's */
#define LINE_NONE	0     /* theirs, too */
#define LINE_UNKNOWN	(-1)  /* of a Java method: "jfr print" leaves the line out */

const enum jfr_type_id jfr_pool_types[POOL_NR] = { [POOL_FRAME_TYPE] = JFR_FRAME_TYPE,
						   [POOL_THREAD_STATE] = JFR_THREAD_STATE,
						   [POOL_THREAD] = JFR_THREAD,
						   [POOL_THREAD_GROUP] = JFR_THREAD_GROUP,
						   [POOL_STACK] = JFR_STACK_TRACE,
						   [POOL_STACK_STATE] = JFR_STACK_STATE,
						   [POOL_INNER_FRAMES] = JFR_INNER_FRAMES,
						   [POOL_METHOD] = JFR_METHOD,
						   [POOL_SOURCE_FILE] = JFR_SOURCE_FILE,
						   [POOL_CLASS] = JFR_CLASS,
						   [POOL_PACKAGE] = JFR_PACKAGE,
						   [POOL_SYMBOL] = JFR_SYMBOL,
						   [POOL_LOADER] = JFR_CLASS_LOADER,
						   [POOL_NMT_TYPE] = JFR_NMT_TYPE,
						   [POOL_NAME] = JFR_NAME,
						   [POOL_GC_NAME] = JFR_GC_NAME,
						   [POOL_GC_CAUSE] = JFR_GC_CAUSE,
						   [POOL_GC_WHEN] = JFR_GC_WHEN,
						   [POOL_VM_OPERATION] = JFR_VM_OPERATION_TYPE,
						   [POOL_COMPILER] = JFR_COMPILER_TYPE,
						   [POOL_DEOPT_REASON] = JFR_DEOPTIMIZATION_REASON,
						   [POOL_DEOPT_ACTION] = JFR_DEOPTIMIZATION_ACTION,
						   [POOL_OOP_MODE] = JFR_NARROW_OOP_MODE,
						   [POOL_FLAG_ORIGIN] = JFR_FLAG_VALUE_ORIGIN };

struct jfr_pools *jfr_pools_new(void)
{
	struct jfr_pools *pools = calloc(1, sizeof(*pools));

	if (pools)
		pools->chunk = 1;
	return pools;
}

void jfr_pools_free(struct jfr_pools *pools)
{
	if (!pools)
		return;
	for (int i = 0; i < POOL_NR; i++) {
		jfr_bytes_free(&pools->pools[i].entries);
		free(pools->pools[i].chunk_of);
	}
	free(pools->unnamed.chunk_of);
	intern_free(&pools->symbols);
	map64_free(&pools->groups);
	free(pools->threads);
	strbuf_free(&pools->text);
	free(pools);
}

/* rows with room for [id], new ones zeroed; NULL when memory is out. */
static void *reach(void *rows, size_t *capacity, size_t id, size_t row_size)
{
	size_t larger = *capacity ? *capacity : FIRST_CAPACITY;
	uint8_t *moved;

	if (id < *capacity)
		return rows;
	while (larger <= id)
		larger *= 2;
	moved = reallocarray(rows, larger, row_size);
	if (!moved)
		return NULL;
	memset(moved + *capacity * row_size, 0, (larger - *capacity) * row_size);
	*capacity = larger;
	return moved;
}

/* Whether the id is new in this chunk; it is not any more. */
static bool is_new(struct jfr_pools *pools, struct pool *pool, uint32_t id)
{
	uint32_t *rows;

	if (id < pool->capacity && pool->chunk_of[id] == pools->chunk)
		return false;
	rows = reach(pool->chunk_of, &pool->capacity, id, sizeof(*rows));
	if (!rows) {
		pools->failed = true;
		return false;
	}
	pool->chunk_of = rows;
	rows[id] = pools->chunk;
	return true;
}

/* Where the value of a new entry goes; NULL when this chunk has it. */
struct jfr_bytes *jfr_pools_entry(struct jfr_pools *pools, enum pool_id which, uint32_t id)
{
	struct pool *pool = &pools->pools[which];

	if (!is_new(pools, pool, id))
		return NULL;
	pool->count++;
	jfr_put_long(&pool->entries, id);
	return &pool->entries;
}

/* ---- names */

static uint32_t symbol(struct jfr_pools *pools, const char *text)
{
	uint32_t id = intern_add(&pools->symbols, text, strlen(text));
	struct jfr_bytes *entry;

	if (!id) {
		pools->failed = true;
		return 0;
	}
	entry = jfr_pools_entry(pools, POOL_SYMBOL, id);
	if (entry)
		jfr_put_symbol(entry, text);
	return id;
}

/* Its name's id is its own. */
static uint32_t package(struct jfr_pools *pools, const char *name)
{
	uint32_t id = symbol(pools, name);
	struct jfr_bytes *entry = jfr_pools_entry(pools, POOL_PACKAGE, id);

	if (entry) {
		jfr_put_long(entry, id);
		jfr_put_long(entry, 0); /* module */
		jfr_put_byte(entry, 1); /* exported */
	}
	return id;
}

static bool is_hidden(const char *class_name)
{
	return strstr(class_name, "+0x") != NULL;
}

/* In the JVM's own form: com/example/Foo. Its name's id is its own. */
static uint32_t class(struct jfr_pools *pools, const char *name, bool is_java)
{
	uint32_t id = symbol(pools, name), package_id = 0;
	const char *slash = is_java ? strrchr(name, '/') : NULL;
	struct jfr_bytes *entry = jfr_pools_entry(pools, POOL_CLASS, id);

	if (!entry)
		return id;
	if (slash) {
		char *package_name = strndup(name, (size_t)(slash - name));

		if (package_name)
			package_id = package(pools, package_name);
		else
			pools->failed = true;
		free(package_name);
	}
	jfr_put_long(entry, 0); /* loader */
	jfr_put_long(entry, id);
	jfr_put_long(entry, package_id);
	jfr_put_int(entry, 0); /* modifiers */
	jfr_put_byte(entry, is_hidden(name));
	return id;
}

/* ---- methods and frames */

/*
 * "com.example.Foo$$Lambda/0x7f01" to "com/example/Foo$$Lambda+0x7f01", as the JVM has it: there a
 * slash is between packages only.
 */
static const char *internal_class_name(struct jfr_pools *pools, const char *name)
{
	const char *suffix = strstr(name, "/0x");

	strbuf_reset(&pools->text);
	strbuf_puts(&pools->text, name);
	for (size_t i = 0; i < pools->text.len; i++)
		if (pools->text.text[i] == '.')
			pools->text.text[i] = '/';
	if (suffix && pools->text.len > (size_t)(suffix - name))
		pools->text.text[suffix - name] = '+';
	return strbuf_text(&pools->text);
}

/* "[kernel]" to "kernel": JMC takes a class whose name begins with a bracket for an array. */
static const char *module_class_name(struct jfr_pools *pools, const char *module)
{
	size_t len = strlen(module);

	if (module[0] != '[')
		return module;
	strbuf_reset(&pools->text);
	strbuf_add(&pools->text, module + 1, len > 1 ? len - 1 - (module[len - 1] == ']') : 0);
	return strbuf_text(&pools->text);
}

static const char *descriptor_of(const struct recording *rec, const struct rec_method *method)
{
	const char *signature = rec_text(rec, method->signature);

	if (signature[0] == '(')
		return signature;
	if (method->class_name)
		return JFR_DESCRIPTOR_UNKNOWN;
	if (!strcmp(rec_text(rec, method->module), "[kernel]"))
		return JFR_DESCRIPTOR_KERNEL;
	return JFR_DESCRIPTOR_NATIVE;
}

static uint32_t class_of(struct jfr_pools *pools, const struct recording *rec,
			 const struct rec_method *method)
{
	uint32_t name = method->raw_class ? method->raw_class : method->class_name;

	if (method->class_name)
		return class(pools, internal_class_name(pools, rec_text(rec, name)), true);
	return class(pools, module_class_name(pools, rec_text(rec, method->module)), false);
}

/* The value is made first: its parts may be new entries of the same pools. */
static void put_method(struct jfr_pools *pools, const struct recording *rec,
		       const struct rec_method *method, uint32_t id, const char *name)
{
	bool is_java = method->class_name != 0;
	uint32_t type = class_of(pools, rec, method);
	uint32_t name_id = symbol(pools, name);
	uint32_t descriptor = symbol(pools, descriptor_of(rec, method));
	struct pool *pool = &pools->pools[POOL_METHOD];

	pool->count++;
	jfr_put_long(&pool->entries, id);
	jfr_put_long(&pool->entries, type);
	jfr_put_long(&pool->entries, name_id);
	jfr_put_long(&pool->entries, descriptor);
	jfr_put_int(&pool->entries, is_java ? 0 : MODIFIER_NATIVE);
	jfr_put_byte(&pool->entries, 0); /* not hidden, whatever its class is */
}

static void put_source_file(struct jfr_pools *pools, const char *file, uint32_t method)
{
	uint32_t name = symbol(pools, file);
	struct jfr_bytes *entry = jfr_pools_entry(pools, POOL_SOURCE_FILE, method);

	if (entry)
		jfr_put_long(entry, name);
}

uint32_t jfr_pools_method(struct jfr_pools *pools, const struct recording *rec, uint32_t id)
{
	const struct rec_method *method;

	if (!is_new(pools, &pools->pools[POOL_METHOD], id))
		return id;
	method = rec_method_get(rec, id);
	put_method(pools, rec, method, id, rec_text(rec, method->name));
	if (method->file)
		put_source_file(pools, rec_text(rec, method->file), id);
	return id;
}

/* "libfoo.so+0x1234" */
static uint32_t unnamed_method(struct jfr_pools *pools, const struct recording *rec, uint32_t frame)
{
	char text[512];
	uint32_t id = UNNAMED_FIRST + frame;

	if (is_new(pools, &pools->unnamed, frame))
		put_method(pools, rec, rec_method_get(rec, rec_frame_get(rec, frame)->method), id,
			   rec_frame_text(rec, frame, text, sizeof(text)));
	return id;
}

static enum jfr_frame_type frame_type(enum rec_frame_kind kind)
{
	static const enum jfr_frame_type types[REC_FRAME_KIND_NR] = {
		[REC_FRAME_INTERPRETED] = JFR_FRAME_INTERPRETED,
		[REC_FRAME_C1] = JFR_FRAME_C1,
		[REC_FRAME_C2] = JFR_FRAME_JIT,
		[REC_FRAME_INLINED] = JFR_FRAME_INLINED,
		[REC_FRAME_NATIVE] = JFR_FRAME_NATIVE,
		[REC_FRAME_KERNEL] = JFR_FRAME_KERNEL,
		[REC_FRAME_STUB] = JFR_FRAME_NATIVE,
		[REC_FRAME_CPP] = JFR_FRAME_CPP,
	};

	return types[kind];
}

static void put_frame(struct jfr_pools *pools, const struct recording *rec, uint32_t id,
		      struct jfr_bytes *to)
{
	const struct rec_frame *frame = rec_frame_get(rec, id);
	const struct rec_method *method = rec_method_get(rec, frame->method);
	bool is_java = rec_kind_is_java(frame->kind);
	int32_t line = frame->line >= 0 ? frame->line : is_java ? LINE_UNKNOWN : LINE_NONE;

	jfr_put_long(to, method->name ? jfr_pools_method(pools, rec, frame->method)
				      : unnamed_method(pools, rec, id));
	jfr_put_int(to, line);
	jfr_put_int(to, is_java ? frame->bci : 0);
	jfr_put_long(to, frame_type(frame->kind));
}

/* The JDK's constant knows no more than that it is not whole. */
static void put_broken(struct jfr_pools *pools, uint32_t stack)
{
	struct jfr_bytes *entry = jfr_pools_entry(pools, POOL_STACK_STATE, stack);

	if (entry)
		jfr_put_text(entry, "broken");
}

/* Those before skip, for whoever wants the whole stack. */
static void put_inner(struct jfr_pools *pools, const struct recording *rec, struct rec_stack stack,
		      uint32_t skip, uint32_t id)
{
	struct jfr_bytes *entry = jfr_pools_entry(pools, POOL_INNER_FRAMES, id);

	if (!entry)
		return;
	jfr_put_long(entry, skip);
	for (uint32_t i = 0; i < skip; i++)
		put_frame(pools, rec, stack.frames[i], entry);
}

/* The frames from skip on, as a constant of this id. */
static uint32_t add_stack(struct jfr_pools *pools, const struct recording *rec,
			  struct rec_stack stack, uint32_t skip, uint32_t id)
{
	struct jfr_bytes *entry =
		stack.count > skip ? jfr_pools_entry(pools, POOL_STACK, id) : NULL;

	if (!entry)
		return stack.count > skip ? id : 0;
	if (stack.state == REC_STACK_BROKEN)
		put_broken(pools, id);
	if (skip)
		put_inner(pools, rec, stack, skip, id);
	jfr_put_byte(entry, stack.state != REC_STACK_COMPLETE);
	jfr_put_long(entry, stack.count - skip);
	for (uint32_t i = skip; i < stack.count; i++)
		put_frame(pools, rec, stack.frames[i], entry);
	return id;
}

uint32_t jfr_pools_stack(struct jfr_pools *pools, const struct recording *rec, uint32_t id)
{
	return add_stack(pools, rec, rec_stack_get(rec, id), 0, id);
}

/* Ids of stacks that begin further out are behind those of whole ones. */
#define JAVA_STACKS_FIRST (REC_MAX_STACKS + 1)

/* Whatever its class is: some have their own, which calls that of Throwable. */
static bool fills_in_stack(const struct recording *rec, const struct rec_frame *frame)
{
	const struct rec_method *method = rec_method_get(rec, frame->method);

	return !strcmp(rec_text(rec, method->name), "fillInStackTrace");
}

/* How many frames are before the first one that counts. */
static uint32_t count_inner(const struct recording *rec, struct rec_stack stack)
{
	uint32_t count = 0;

	while (count < stack.count &&
	       !rec_kind_is_java(rec_frame_get(rec, stack.frames[count])->kind))
		count++;
	while (count < stack.count && fills_in_stack(rec, rec_frame_get(rec, stack.frames[count])))
		count++;
	return count;
}

uint32_t jfr_pools_java_stack(struct jfr_pools *pools, const struct recording *rec, uint32_t id)
{
	struct rec_stack stack = rec_stack_get(rec, id);
	uint32_t skip = count_inner(rec, stack);

	if (!skip || skip == stack.count)
		return jfr_pools_stack(pools, rec, id);
	return add_stack(pools, rec, stack, skip, JAVA_STACKS_FIRST + id);
}

/* ---- threads */

static uint32_t put_group(struct jfr_pools *pools, uint64_t key, const char *name, uint32_t parent)
{
	struct jfr_bytes *entry;
	uint32_t id;

	if (!map64_get(&pools->groups, key, &id)) {
		id = ++pools->group_count;
		if (map64_set(&pools->groups, key, id))
			pools->failed = true;
	}
	entry = jfr_pools_entry(pools, POOL_THREAD_GROUP, id);
	if (entry) {
		jfr_put_long(entry, parent);
		jfr_put_text(entry, name);
	}
	return id;
}

/* The thread's group in that of its JVM, which is "jvm PID". */
static uint32_t group_of(struct jfr_pools *pools, const struct recording *rec,
			 const struct rec_thread *thread)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, thread->jvm);
	uint64_t key = (uint64_t)thread->jvm << 32;
	uint32_t parent = 0;
	char name[32];

	if (jvm) {
		snprintf(name, sizeof(name), "jvm %d", jvm->pid);
		parent = put_group(pools, key, name, 0);
	}
	return thread->group
		       ? put_group(pools, key | thread->group, rec_text(rec, thread->group), parent)
		       : parent;
}

static void put_thread(struct jfr_pools *pools, const struct recording *rec,
		       const struct rec_thread *thread, uint32_t id)
{
	/* Never null, which "jfr view" cannot print. */
	const char *name = rec_text(rec, thread->name);
	bool is_java = !strcmp(rec_text(rec, thread->group), "java");
	uint32_t group = group_of(pools, rec, thread);
	struct jfr_bytes *entry = jfr_pools_entry(pools, POOL_THREAD, id);

	if (!entry)
		return;
	jfr_put_text(entry, name);
	jfr_put_long(entry, (uint64_t)thread->tid);
	jfr_put_text(entry, is_java ? name : NULL);
	jfr_put_long(entry, 0); /* Java thread id: not known */
	jfr_put_long(entry, group);
	jfr_put_byte(entry, 0); /* virtual */
}

uint32_t jfr_pools_thread(struct jfr_pools *pools, const struct recording *rec, uint32_t id)
{
	const struct rec_thread *thread = rec_thread_get(rec, id);
	struct thread_id *rows;

	if (!thread)
		return 0;
	rows = reach(pools->threads, &pools->thread_capacity, id, sizeof(*rows));
	if (!rows) {
		pools->failed = true;
		return 0;
	}
	pools->threads = rows;
	if (!rows[id].id || rows[id].name != thread->name || rows[id].group != thread->group)
		rows[id] = (struct thread_id){ ++pools->thread_count, thread->name, thread->group };
	put_thread(pools, rec, thread, rows[id].id);
	return rows[id].id;
}

/* ---- classes */

uint32_t jfr_pools_class(struct jfr_pools *pools, const struct recording *rec, uint32_t name)
{
	return name ? class(pools, internal_class_name(pools, rec_text(rec, name)), true) : 0;
}

uint32_t jfr_pools_type(struct jfr_pools *pools, const struct recording *rec, uint32_t name)
{
	struct strbuf array = { 0 };
	uint32_t id;

	if (!names_array(rec_text(rec, name), &array))
		return jfr_pools_class(pools, rec, name);
	id = class(pools, strbuf_text(&array), false);
	strbuf_free(&array);
	return id;
}

uint32_t jfr_pools_loader(struct jfr_pools *pools, const struct recording *rec, uint32_t id)
{
	const struct rec_loader *loader = rec_loader_get(rec, id);
	struct jfr_bytes *entry;
	uint32_t type, name;

	if (!loader || !loader->type)
		return 0;
	type = jfr_pools_class(pools, rec, loader->type);
	name = symbol(pools, rec_text(rec, loader->name));
	entry = jfr_pools_entry(pools, POOL_LOADER, id);
	if (entry) {
		jfr_put_long(entry, type);
		jfr_put_long(entry, name);
	}
	return id;
}

/* ---- the checkpoint */

/* The same few in every chunk, with its first checkpoint. */
static void put_fixed(struct jfr_pools *pools)
{
	struct jfr_bytes *entry;

	for (enum jfr_frame_type type = 0; type < JFR_FRAME_NR; type++) {
		entry = jfr_pools_entry(pools, POOL_FRAME_TYPE, type);
		if (entry)
			jfr_put_text(entry, jfr_frame_type_name(type));
	}
	for (enum jfr_thread_state state = 0; state < JFR_STATE_NR; state++) {
		entry = jfr_pools_entry(pools, POOL_THREAD_STATE, state);
		if (entry)
			jfr_put_text(entry, jfr_thread_state_name(state));
	}
}

static void put_pools(struct jfr_pools *pools, struct jfr_bytes *bytes)
{
	unsigned int count = 0;

	/* A pool without entries makes the JDK throw. */
	for (int i = 0; i < POOL_NR; i++)
		count += pools->pools[i].count > 0;
	jfr_put_long(bytes, count);
	for (int i = 0; i < POOL_NR; i++) {
		struct pool *pool = &pools->pools[i];

		if (!pool->count)
			continue;
		jfr_put_long(bytes, jfr_pool_types[i]);
		jfr_put_long(bytes, pool->count);
		jfr_put_bytes(bytes, pool->entries.data, pool->entries.len);
	}
}

int jfr_pools_write(struct jfr_pools *pools, struct jfr_bytes *bytes, uint64_t ticks,
		    int64_t to_last)
{
	size_t at = jfr_begin_event(bytes, JFR_CHECKPOINT);

	put_fixed(pools);
	jfr_put_long(bytes, ticks);
	jfr_put_long(bytes, 0); /* duration */
	jfr_put_long(bytes, (uint64_t)to_last);
	jfr_put_byte(bytes, CHECKPOINT_MASK);
	put_pools(pools, bytes);
	jfr_end_event(bytes, at);
	for (int i = 0; i < POOL_NR; i++) {
		pools->failed |= pools->pools[i].entries.failed;
		pools->pools[i].entries.len = 0;
		pools->pools[i].count = 0;
	}
	return pools->failed || bytes->failed ? -ENOMEM : 0;
}

void jfr_pools_next_chunk(struct jfr_pools *pools)
{
	pools->chunk++;
}
