/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jvm/codeheap.h"
#include "jvm/flags.h"
#include "jvm/launch.h"
#include "jvm/layout.h"
#include "jvm/loader.h"
#include "jvm/method.h"
#include "jvm/names.h"
#include "jvm/nmethod.h"
#include "jvm/objects.h"
#include "jvm/threadname.h"
#include "jvm/threads.h"
#include "jvm/vmstructs.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/target.h"

#define VERSION_MAX	 128
#define NAMES_TRIES	 16 /* looks for where names of threads lie */
#define BLOB_NAME_MAX	 256
#define BLOB_NAMES_LIMIT (1u << 20)  /* bytes; a JVM has some 200 blob names */
#define METHODS_LIMIT	 (32u << 20) /* bytes: some 100,000 methods */

/*
 * An interpreted-only JVM never gets compiled code, so its layout never is complete. After so many
 * searches only each so many-th refresh searches.
 */
#define EAGER_SEARCHES 64
#define LAZY_EVERY     16

struct jvm {
	const struct target *target;
	struct hotspot hotspot;
	struct jvs_java_layout layout;
	struct methods methods;
	struct nmethods nmethods;
	struct names blob_names;
	struct codeheap_search search;
	uint32_t refreshes;
	int major;
	const char *gc_name;
	struct threadnames threadnames;
	int names_err; /* of threadname_find: -EAGAIN before */
	uint32_t names_tries;
	char version[VERSION_MAX];
};

/*
 * While the loader maps libjvm, its data is first the file's bytes from some other place: such
 * nonsense passes (seen in the first millisecond).
 */
static int again_if_odd(int err)
{
	return err == -EFAULT || err == -EBADMSG ? -EAGAIN : err;
}

/* Tables and field offsets; nothing that changes in the life of a JVM. */
static int read_hotspot(const struct target *t, const struct maps *maps, struct hotspot *out)
{
	const struct mapping *mapping = maps_find_file(maps, "libjvm.so");
	struct vmstructs_table tables[VMSTRUCTS_TABLES];
	struct vmstructs vm;
	struct image *image;
	int err;

	if (!mapping)
		return -ENOENT;
	err = image_open(t, mapping, &image);
	if (err)
		return err == -ENOEXEC ? -ENOENT : err;
	err = vmstructs_locate(t, image, image_bias(image, mapping), tables);
	image_close(image);
	if (err)
		return err;
	err = vmstructs_read(t, tables, &vm);
	if (err)
		return again_if_odd(err);
	err = layout_read(&vm, t->pid, out);
	vmstructs_free(&vm);
	return err;
}

/* JDK_Version exists up to 21, and 8 has the JDK's number nowhere else. 0 while not yet set. */
static int read_major(const struct target *t, const struct hotspot *h)
{
	struct field first_byte = h->field.jdk_version;
	uint64_t major = 0;

	first_byte.size = 1;
	first_byte.is_signed = false;
	if (field_exists(h->field.jdk_version))
		return field_read(t, 0, first_byte, &major) ? 0 : (int)major;
	return field_read(t, 0, h->field.vm_major, &major) ? 0 : (int)major;
}

/* "OpenJDK 64-Bit Server VM (25.504-b08) for linux-amd64 JRE (1.8.0_504-b08), built on ..." */
static bool version_of_info(const char *info, char *to, size_t size)
{
	static const char before[] = "JRE (";
	const char *start = strstr(info, before);
	size_t len;

	if (!start)
		return false;
	start += sizeof(before) - 1;
	len = strcspn(start, ")");
	if (!start[len] || len >= size)
		return false;
	memcpy(to, start, len);
	to[len] = 0;
	return true;
}

/* On 8 the release is that of HotSpot (25.504-b08); the JDK's own is inside a longer text. */
static void read_version(const struct target *t, const struct hotspot *h, int major, char *to)
{
	char info[512], text[VERSION_MAX];
	uint64_t addr;

	if (major <= 8 && !field_read(t, 0, h->field.vm_info_string, &addr) && addr &&
	    target_read_string(t, addr, info, sizeof(info)) > 0 &&
	    version_of_info(info, text, sizeof(text)))
		goto out;
	if (field_read(t, 0, h->field.vm_release, &addr) || !addr ||
	    target_read_string(t, addr, text, sizeof(text)) < 0)
		text[0] = 0;
out:
	/* It is shown on terminals, and a process can pretend to be a JVM. */
	text_utf8(text, strlen(text), to, VERSION_MAX);
}

static int read_code_cache(const struct target *t, const struct hotspot *h,
			   struct jvs_java_layout *layout)
{
	int err = codeheap_read(t, h, layout);

	if (!err)
		err = codeheap_interpreter(t, h, layout);
	return again_if_odd(err);
}

int jvm_open(const struct target *t, const struct maps *maps, struct jvm **out)
{
	struct jvm *jvm = calloc(1, sizeof(*jvm));
	int err;

	if (!jvm)
		return -ENOMEM;
	jvm->target = t;
	err = read_hotspot(t, maps, &jvm->hotspot);
	if (err)
		goto out;
	jvm->major = read_major(t, &jvm->hotspot);
	if (!jvm->major) {
		err = target_alive(t) ? -EAGAIN : -ESRCH;
		goto out;
	}
	layout_for_bpf(&jvm->hotspot, jvm->major, &jvm->layout);
	err = read_code_cache(t, &jvm->hotspot, &jvm->layout);
	if (!err)
		err = codeheap_search(t, &jvm->hotspot, &jvm->search, &jvm->layout);
	if (err)
		goto out;
	read_version(t, &jvm->hotspot, jvm->major, jvm->version);
	jvm->gc_name = flags_gc_name(t, &jvm->hotspot, jvm->major);

	jvm->names_err = -EAGAIN;
	jvm->methods.target = t;
	jvm->methods.hotspot = &jvm->hotspot;
	jvm->methods.bias = jvm->major >= 20;
	jvm->nmethods.target = t;
	jvm->nmethods.hotspot = &jvm->hotspot;
	jvm->nmethods.methods = &jvm->methods;
	jvm->nmethods.native_name = jvm->layout.name_native_nmethod;
	*out = jvm;
	jvm = NULL;
out:
	jvm_close(jvm);
	return err;
}

void jvm_close(struct jvm *jvm)
{
	if (!jvm)
		return;
	nmethods_free(&jvm->nmethods);
	methods_free(&jvm->methods);
	names_free(&jvm->blob_names);
	free(jvm);
}

const struct jvs_java_layout *jvm_layout(const struct jvm *jvm)
{
	return &jvm->layout;
}

/*
 * The interpreter is read again too: of a JVM that was opened while it made its codelets, some
 * were missing.
 */
bool jvm_refresh(struct jvm *jvm)
{
	struct jvs_java_layout layout = jvm->layout;

	jvm->refreshes++;
	jvm->methods.generation++;
	if (codeheap_complete(&layout))
		return false;
	if (jvm->refreshes > EAGER_SEARCHES && jvm->refreshes % LAZY_EVERY)
		return false;
	if (read_code_cache(jvm->target, &jvm->hotspot, &layout) ||
	    codeheap_search(jvm->target, &jvm->hotspot, &jvm->search, &layout))
		return false;
	if (!memcmp(&layout, &jvm->layout, sizeof(layout)))
		return false;
	jvm->layout = layout;
	jvm->nmethods.native_name = layout.name_native_nmethod;
	return true;
}

bool jvm_trim(struct jvm *jvm)
{
	if (methods_memory(&jvm->methods) <= METHODS_LIMIT)
		return false;
	nmethods_free(&jvm->nmethods);
	methods_free(&jvm->methods);
	return true;
}

bool jvm_in_code_heap(const struct jvm *jvm, uint64_t addr)
{
	for (uint32_t i = 0; i < jvm->layout.heap_count; i++) {
		if (addr >= jvm->layout.heaps[i].low && addr < jvm->layout.heaps[i].high)
			return true;
	}
	return false;
}

int jvm_major(const struct jvm *jvm)
{
	return jvm->major;
}

const char *jvm_version(const struct jvm *jvm)
{
	return jvm->version;
}

const char *jvm_gc_name(const struct jvm *jvm)
{
	return jvm->gc_name;
}

int jvm_collections(const struct jvm *jvm, uint64_t *count)
{
	const struct fields *f = &jvm->hotspot.field;
	uint64_t heap;
	int err;

	if (!field_exists(f->collected_heap) || !field_exists(f->total_collections))
		return -ENOENT;
	err = field_read(jvm->target, 0, f->collected_heap, &heap);
	if (!err && !heap)
		err = -ENOENT;
	return err ? err : field_read(jvm->target, heap, f->total_collections, count);
}

void jvm_main_class(const struct target *t, const struct jvm *jvm, char *to, size_t size)
{
	launch_main_class(t, jvm ? &jvm->hotspot : NULL, to, size);
}

void jvm_arguments(const struct target *t, const struct jvm *jvm, char *to, size_t size)
{
	launch_arguments(t, jvm ? &jvm->hotspot : NULL, to, size);
}

struct jvm_thread_heap jvm_thread_heap(const struct jvm *jvm)
{
	const struct fields *f = &jvm->hotspot.field;
	struct jvm_thread_heap heap = { .allocated = (uint32_t)f->thread_allocated.at };

	if (!field_exists(f->thread_tlab) || !field_exists(f->tlab_start) ||
	    !field_exists(f->tlab_top))
		return heap;
	heap.tlab_start = (uint32_t)(f->thread_tlab.at + f->tlab_start.at);
	heap.tlab_top = (uint32_t)(f->thread_tlab.at + f->tlab_top.at);
	return heap;
}

int jvm_flags(const struct jvm *jvm, void (*found)(const struct flag *flag, void *ctx), void *ctx)
{
	return flags_each(jvm->target, &jvm->hotspot, found, ctx);
}

void jvm_facts(const struct jvm *jvm, void (*found)(const char *name, uint64_t value, void *ctx),
	       void *ctx)
{
	const struct fields *f = &jvm->hotspot.field;
	uint64_t start = UINT64_MAX, end = 0, value;

	if (field_exists(f->narrow_base) && !field_read(jvm->target, 0, f->narrow_base, &value))
		found("narrow_oop_base", value, ctx);
	if (field_exists(f->narrow_shift) && !field_read(jvm->target, 0, f->narrow_shift, &value))
		found("narrow_oop_shift", value, ctx);
	for (uint32_t i = 0; i < jvm->layout.heap_count; i++) {
		const struct jvs_code_heap *heap = &jvm->layout.heaps[i];

		start = heap->low < start ? heap->low : start;
		end = heap->high > end ? heap->high : end;
	}
	if (start >= end)
		return;
	found("code_cache_start", start, ctx);
	found("code_cache_end", end, ctx);
}

int jvm_class_layout(const struct jvm *jvm, struct jvs_class_layout *out)
{
	return loader_layout(jvm->target, &jvm->hotspot, out);
}

int jvm_object_layout(const struct jvm *jvm, struct jvs_object_layout *out)
{
	return objects_layout(jvm->target, &jvm->hotspot, jvm->major, jvm->gc_name, out);
}

/* What of a CompileTask has no name outside lies behind what has: measured on 17 and 25. */
#define SUCCEEDED_BEHIND_OSR_BCI 5 /* behind "is complete" */
#define CODE_SIZE_BEHIND_OSR_BCI 12
#define CODE_BEHIND_INLINED	 4 /* a pointer, so at the next multiple of its size */
#define TASK_HAS_CODE_SIZE_SINCE 20

static void find_code_of_task(const struct jvm *jvm, struct jvm_task_layout *out)
{
	const struct fields *f = &jvm->hotspot.field;

	if (!field_exists(f->task_osr_bci) || !field_exists(f->task_inlined))
		return;
	out->succeeded = out->osr_bci + SUCCEEDED_BEHIND_OSR_BCI;
	if (jvm->major >= TASK_HAS_CODE_SIZE_SINCE) {
		out->code_size = out->osr_bci + CODE_SIZE_BEHIND_OSR_BCI;
		return;
	}
	if (!field_exists(f->nmethod_consts_offset) || !field_exists(f->nmethod_oops_offset) ||
	    !field_exists(f->nmethod_scopes_begin) ||
	    !field_exists(f->nmethod_dependencies_offset) ||
	    !field_exists(f->nmethod_handlers_offset) || !field_exists(f->nmethod_end_offset))
		return;
	out->code = (out->inlined + CODE_BEHIND_INLINED + 7) & ~7u;
	out->consts = (uint32_t)f->nmethod_consts_offset.at;
	out->oops = (uint32_t)f->nmethod_oops_offset.at;
	out->scopes = (uint32_t)f->nmethod_scopes_begin.at;
	out->dependencies = (uint32_t)f->nmethod_dependencies_offset.at;
	out->handlers = (uint32_t)f->nmethod_handlers_offset.at;
	out->end = (uint32_t)f->nmethod_end_offset.at;
}

int jvm_task_layout(const struct jvm *jvm, struct jvm_task_layout *out)
{
	const struct fields *f = &jvm->hotspot.field;

	if (!field_exists(f->task_method) || !field_exists(f->task_id))
		return -ENOENT;
	*out = (struct jvm_task_layout){ .method = (uint32_t)f->task_method.at,
					 .id = (uint32_t)f->task_id.at,
					 .level = (uint32_t)f->task_level.at,
					 .osr_bci = (uint32_t)f->task_osr_bci.at,
					 .inlined = (uint32_t)f->task_inlined.at,
					 .const_method = (uint32_t)f->method_const_method.at };
	find_code_of_task(jvm, out);
	return 0;
}

uint32_t jvm_thread_state(const struct jvm *jvm, uint32_t raw)
{
	return layout_thread_state(&jvm->hotspot, raw);
}

int jvm_threads(struct jvm *jvm, struct jvm_thread **out, size_t *count)
{
	return threads_read(jvm->target, &jvm->hotspot, out, count);
}

static int describe_interpreted(struct jvm *jvm, const struct jvs_frame *frame, uint64_t address,
				struct jvm_frame *out)
{
	const struct method *method;
	int bci = frame->offset == JVS_NO_BCI ? -1 : (int)(frame->offset & UINT16_MAX);
	int err = methods_get_exactly(&jvm->methods, address, frame->cookie, &method);

	if (err)
		return err;
	if (method->shown.native)
		bci = -1;
	*out = (struct jvm_frame){
		.type = method->shown.native ? JVM_FRAME_NATIVE : JVM_FRAME_INTERPRETED,
		.method = &method->shown,
		.bci = bci,
		.line = method_line(&jvm->methods, method, bci),
	};
	return 1;
}

static int describe_compiled(struct jvm *jvm, const struct jvs_frame *frame, uint64_t address,
			     bool leaf, struct jvm_frame out[JVM_INLINE_MAX])
{
	struct nmethod *nmethod;
	int err = nmethods_get(&jvm->nmethods, address, frame->cookie, &nmethod);

	if (err)
		return err;
	return nmethod_describe(&jvm->nmethods, nmethod, frame->offset, leaf, out);
}

/* The name of a blob, kept. The interpreter's frames without a method are named by their pc. */
static int blob_name(struct jvm *jvm, uint64_t address, const char **out)
{
	char name[BLOB_NAME_MAX];
	struct blob blob;
	ssize_t len;
	int err;

	if (address >= jvm->layout.interpreter.low && address < jvm->layout.interpreter.high) {
		*out = "Interpreter";
		return 0;
	}
	err = codeheap_blob(jvm->target, &jvm->hotspot, address, &blob);
	if (err)
		return err;
	len = target_read_string(jvm->target, blob.name, name, sizeof(name));
	if (len <= 0)
		return len ? (int)len : -EBADMSG;
	if (names_memory(&jvm->blob_names) > BLOB_NAMES_LIMIT) {
		*out = "stub";
		return 0;
	}
	*out = names_keep(&jvm->blob_names, name, (size_t)len);
	return *out ? 0 : -ENOMEM;
}

static int describe_stub(struct jvm *jvm, uint64_t address, struct jvm_frame *out)
{
	const char *name;
	int err = blob_name(jvm, address, &name);

	if (err)
		return err == -ENAMETOOLONG ? -EBADMSG : err;
	*out = (struct jvm_frame){ .type = JVM_FRAME_STUB, .stub = name, .bci = -1, .line = -1 };
	return 1;
}

int jvm_frame_at(const struct jvm *jvm, uint64_t pc, struct jvs_frame *out)
{
	const struct field *id = &jvm->hotspot.field.nmethod_compile_id;
	uint32_t compile_id;
	struct blob blob;
	int err = codeheap_find(jvm->target, &jvm->hotspot, &jvm->layout, pc, &blob);

	if (!err)
		err = target_read_u32(jvm->target, blob.address + id->at, &compile_id);
	if (err)
		return err;
	*out = (struct jvs_frame){
		.word = jvs_frame_word(blob.address, JVS_FRAME_NMETHOD, JVS_HOW_LEAF),
		.offset = (uint32_t)(pc - blob.code_begin),
		.cookie = compile_id,
	};
	return 0;
}

int jvm_describe(struct jvm *jvm, const struct jvs_frame *frame, bool leaf,
		 struct jvm_frame out[JVM_INLINE_MAX])
{
	uint64_t address = frame->word & JVS_ADDRESS_MASK;

	switch (frame->word >> 56) {
	case JVS_FRAME_INTERPRETED:
		return describe_interpreted(jvm, frame, address, out);
	case JVS_FRAME_NMETHOD:
		return describe_compiled(jvm, frame, address, leaf, out);
	case JVS_FRAME_STUB:
	case JVS_FRAME_ADAPTER:
		return describe_stub(jvm, address, out);
	default:
		return -EINVAL;
	}
}

void jvm_number_methods(struct jvm *jvm, const struct jvs_frame *const *frames, size_t count,
			uint32_t *numbers)
{
	struct method_place places[METHODS_NUMBERED];
	size_t some;

	memset(numbers, 0, count * sizeof(*numbers));
	for (size_t at = 0; at < count; at += some) {
		some = count - at < METHODS_NUMBERED ? count - at : METHODS_NUMBERED;
		for (size_t i = 0; i < some; i++)
			places[i] = (struct method_place){ frames[at + i]->word & JVS_ADDRESS_MASK,
							   frames[at + i]->cookie };
		methods_number(&jvm->methods, places, some, numbers + at);
	}
}

size_t jvm_memory(const struct jvm *jvm)
{
	return sizeof(*jvm) + methods_memory(&jvm->methods) + nmethods_memory(&jvm->nmethods) +
	       names_memory(&jvm->blob_names);
}

_Static_assert(JVM_THREAD_NAME_MAX == THREADNAME_MAX, "one limit");

/* Classes that are not there yet will be, as long as it is starting. */
static bool names_are_found(struct jvm *jvm)
{
	if (jvm->names_err && jvm->names_tries < NAMES_TRIES) {
		jvm->names_tries++;
		jvm->names_err = threadname_find(jvm->target, &jvm->hotspot, jvm->major,
						 jvm->gc_name, &jvm->threadnames);
	}
	return !jvm->names_err;
}

int jvm_thread_name(struct jvm *jvm, uint64_t java_thread, const char *comm,
		    char to[JVM_THREAD_NAME_MAX])
{
	if (!names_are_found(jvm))
		return jvm->names_err;
	return threadname_read(jvm->target, &jvm->hotspot, &jvm->threadnames, java_thread, comm,
			       to);
}
