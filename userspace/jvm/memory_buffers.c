/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jvm/flags.h"
#include "jvm/javafield.h"
#include "jvm/memory_impl.h"
#include "target/target.h"

/*
 * Direct buffers are counted in statics of java.nio.Bits (AtomicLong), mapped ones in statics of
 * what unmaps them. Statics lie in the class's mirror, a Java object.
 */

#define LOADERS_MAX 100000
#define CLASSES_MAX 100000
#define NAME_MAX    64
#define HEAD_MAX    512
#define LOOKS_MAX   8 /* for classes that are not loaded: in each second reading */
#define OFFSET_MAX  4096

/* ---- references */

struct heap_view {
	const struct vm_memory *memory;
	const struct target *target;
	bool compressed;
	uint64_t base, shift;	       /* of compressed references */
	bool coloured;		       /* ZGC */
	uint64_t offset, good, unload; /* ZGC: see address_of */
};

static bool read_global(const struct target *t, uint64_t globals, struct field f, uint64_t *out)
{
	uint64_t at;

	return field_exists(f) && !field_read(t, globals, f, &at) && !target_read_u64(t, at, out);
}

static bool read_colours(struct heap_view *view)
{
	const struct fields *f = &view->memory->hotspot.field;
	const struct target *t = view->target;
	uint64_t globals;

	if (!field_exists(f->z_globals) || field_read(t, 0, f->z_globals, &globals))
		return false;
	if (field_exists(f->z_load_shift))
		return read_global(t, globals, f->z_load_shift, &view->unload) && view->unload < 64;
	return read_global(t, globals, f->z_offset_mask, &view->offset) &&
	       read_global(t, globals, f->z_good_mask, &view->good);
}

static bool open_view(const struct vm_memory *memory, struct heap_view *out)
{
	static const char *const names[] = { "UseCompressedOops" };
	const struct fields *f = &memory->hotspot.field;
	struct heap_view view = { .memory = memory, .target = memory->target };

	if (flags_read(memory->target, &memory->hotspot, names, 1, &view.compressed))
		return false;
	view.coloured = !strcmp(memory->gc, "ZGC");
	if (view.coloured) {
		view.compressed = false;
		if (!read_colours(&view))
			return false;
	}
	if (view.compressed &&
	    (field_read(memory->target, 0, f->narrow_base, &view.base) ||
	     field_read(memory->target, 0, f->narrow_shift, &view.shift) || view.shift > 8))
		return false;
	*out = view;
	return true;
}

static uint64_t address_of(const struct heap_view *view, uint64_t reference)
{
	if (!view->coloured || !reference)
		return reference;
	if (view->offset)
		return (reference & view->offset) | view->good;
	return reference >> view->unload;
}

static uint64_t read_reference(const struct heap_view *view, uint64_t at)
{
	uint64_t wide;
	uint32_t narrow;

	if (view->compressed)
		return target_read_u32(view->target, at, &narrow) || !narrow
			       ? 0
			       : view->base + ((uint64_t)narrow << view->shift);
	return target_read_u64(view->target, at, &wide) ? 0 : address_of(view, wide);
}

/* The mirror is a handle, whose slot holds a whole reference; on JDK 8 the reference itself. */
static uint64_t mirror_of(const struct heap_view *view, uint64_t klass)
{
	uint64_t word;

	if (view->memory->member.klass_mirror == NO_MEMBER ||
	    target_read_u64(view->target, klass + view->memory->member.klass_mirror, &word))
		return 0;
	if (view->memory->major <= 8)
		return word;
	return target_read_u64(view->target, word, &word) ? 0 : address_of(view, word);
}

/* ---- classes */

/* The head of a class that holds its name and the link to the next one: one read. */
struct class_head {
	uint8_t bytes[HEAD_MAX];
	size_t size;
};

static bool read_head(const struct vm_memory *memory, uint64_t klass, struct class_head *head)
{
	uint64_t name = memory->hotspot.field.klass_name.at, next = memory->member.klass_next;

	/* Each alone: offsets are the target's, and a sum of them may begin at 0 again. */
	if (name > HEAD_MAX - sizeof(uint64_t) || next > HEAD_MAX - sizeof(uint64_t))
		return false;
	head->size = (name > next ? name : next) + sizeof(uint64_t);
	return !target_read(memory->target, klass, head->bytes, head->size);
}

/* The name of a class; false when it is longer than those that are looked for. */
static bool read_class_name(const struct vm_memory *memory, const struct class_head *head,
			    char name[NAME_MAX])
{
	const struct fields *f = &memory->hotspot.field;
	uint64_t symbol = field_of(f->klass_name, head->bytes, head->size), length;

	if (field_exists(f->symbol_length)
		    ? field_read(memory->target, symbol, f->symbol_length, &length)
		    : field_read(memory->target, symbol, f->symbol_length_and_refcount, &length))
		return false;
	if (!field_exists(f->symbol_length))
		length >>= 16;
	if (!length || length >= NAME_MAX ||
	    target_read(memory->target, symbol + f->symbol_body.at, name, length))
		return false;
	name[length] = 0;
	return true;
}

/* The boot loader's data: a variable, or the oldest, which is the last of the list. */
static uint64_t boot_loader(const struct memory_walk *walk)
{
	const struct memory_members *m = &walk->memory->member;
	uint64_t loader = 0, next;

	if (walk->memory->symbol.boot_loader)
		return memory_word(walk, walk->memory->symbol.boot_loader, 0);
	next = memory_word(walk, 0, m->cld_head);
	for (uint32_t n = 0; next && n < LOADERS_MAX; n++) {
		loader = next;
		next = memory_word(walk, loader, m->cld_next);
	}
	return loader;
}

static void look_for_classes(const struct vm_memory *memory, struct vm_buffer_classes *classes)
{
	const struct memory_walk walk = { .memory = memory, .target = memory->target };
	const struct {
		const char *name;
		uint64_t *klass;
	} wanted[] = {
		{ "java/nio/Bits", &classes->direct },
		{ "java/util/concurrent/atomic/AtomicLong", &classes->number },
		{ "sun/nio/ch/FileChannelImpl$DefaultUnmapper", &classes->mapped },
		{ "sun/nio/ch/FileChannelImpl$Unmapper", &classes->mapped },
	};
	struct class_head head;
	char name[NAME_MAX];
	uint64_t klass, loader;

	if (memory->member.cld_klasses == NO_MEMBER || memory->member.klass_next == NO_MEMBER)
		return;
	loader = boot_loader(&walk);
	klass = loader ? memory_word(&walk, loader, memory->member.cld_klasses) : 0;
	for (uint32_t n = 0; n < CLASSES_MAX && klass && read_head(memory, klass, &head); n++) {
		if (!read_class_name(memory, &head, name))
			name[0] = 0;
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			if (!*wanted[i].klass && !strcmp(name, wanted[i].name))
				*wanted[i].klass = klass;
		memcpy(&klass, head.bytes + memory->member.klass_next, sizeof(klass));
	}
}

/* ---- counters */

static uint64_t number_at(const struct heap_view *view, uint64_t mirror, uint32_t offset,
			  uint32_t value_offset)
{
	uint64_t object = offset && offset < OFFSET_MAX ? read_reference(view, mirror + offset) : 0;
	uint64_t value;

	if (!object || target_read_u64(view->target, object + value_offset, &value) ||
	    value > INT64_MAX)
		return 0;
	return value;
}

static uint64_t long_at(const struct heap_view *view, uint64_t mirror, uint32_t offset)
{
	uint64_t value;

	if (!offset || offset >= OFFSET_MAX ||
	    target_read_u64(view->target, mirror + offset, &value) || value > INT64_MAX)
		return 0;
	return value;
}

static void read_direct(const struct heap_view *view, const struct vm_buffer_classes *classes,
			struct vm_buffers *out)
{
	struct javafield fields[] = { { .name = "COUNT" },
				      { .name = "TOTAL_CAPACITY" },
				      { .name = "RESERVED_MEMORY" },
				      { .name = "MAX_MEMORY" } };
	struct javafield value = { .name = "value" };
	const struct vm_memory *memory = view->memory;
	uint64_t mirror;

	if (javafield_find(view->target, &memory->hotspot, memory->major, classes->direct, fields,
			   4) ||
	    javafield_find(view->target, &memory->hotspot, memory->major, classes->number, &value,
			   1))
		return;
	mirror = mirror_of(view, classes->direct);
	if (!mirror || !value.offset)
		return;
	out->count = number_at(view, mirror, fields[0].offset, value.offset);
	out->capacity_bytes = number_at(view, mirror, fields[1].offset, value.offset);
	out->reserved_bytes = number_at(view, mirror, fields[2].offset, value.offset);
	out->max_bytes = long_at(view, mirror, fields[3].offset);
}

static void read_mapped(const struct heap_view *view, const struct vm_buffer_classes *classes,
			struct vm_buffers *out)
{
	struct javafield fields[] = { { .name = "count" },
				      { .name = "totalCapacity" },
				      { .name = "totalSize" } };
	const struct vm_memory *memory = view->memory;
	uint64_t mirror = mirror_of(view, classes->mapped);
	uint32_t count;

	if (!mirror || javafield_find(view->target, &memory->hotspot, memory->major,
				      classes->mapped, fields, 3))
		return;
	if (fields[0].offset && fields[0].offset < OFFSET_MAX &&
	    !target_read_u32(view->target, mirror + fields[0].offset, &count))
		out->count = count;
	out->capacity_bytes = long_at(view, mirror, fields[1].offset);
	out->reserved_bytes = long_at(view, mirror, fields[2].offset);
}

void vm_memory_buffers(const struct vm_memory *memory, struct vm_buffer_classes *classes,
		       struct vm_buffers *direct, struct vm_buffers *mapped)
{
	struct heap_view view;

	*direct = *mapped = (struct vm_buffers){ 0 };
	if ((!classes->direct || !classes->number || !classes->mapped) &&
	    classes->looks < 2 * LOOKS_MAX && classes->looks++ % 2 == 0)
		look_for_classes(memory, classes);
	if ((!classes->direct && !classes->mapped) || !open_view(memory, &view))
		return;
	if (classes->direct && classes->number)
		read_direct(&view, classes, direct);
	if (classes->mapped)
		read_mapped(&view, classes, mapped);
}
