/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "jvm/memory_impl.h"
#include "target/maps.h"
#include "target/target.h"

/*
 * Metaspace and class space are lists of nodes, which variables lead to that only .symtab knows:
 * of the list itself in 9 to 15, of a context that has it from 16 on. Without them classes are
 * looked at: the mapping that holds a Klass is class space, the one that holds its constant pool
 * is metaspace.
 */

#define NODES_MAX   65536 /* of 64 MiB */
#define KLASSES_MAX 20000 /* looked at without the list: each mapping holds thousands */
#define KLASSES_NEW 2000  /* of a later look: the newest of loaders that were there before */

/* MetaspaceContext: vtable or name, the list. VirtualSpaceList: name, limit, first node. */
#define CONTEXT_LIST 8
#define LIST_FIRST   16
/* From 9 to 15: the list begins with the first node, which has its bounds as a VirtualSpace. */
#define OLD_LIST_FIRST 0
#define OLD_NODE_LOW   80
#define OLD_NODE_HIGH  88

static bool find_nodes(const struct memory_walk *walk, uint64_t variable, enum vm_use use)
{
	uint64_t context, list, node, words[3]; /* a node: the next one, base, bytes */
	uint32_t count = 0;

	if (!variable)
		return false;
	context = memory_word(walk, variable, 0);
	list = context ? memory_word(walk, context, CONTEXT_LIST) : 0;
	node = list ? memory_word(walk, list, LIST_FIRST) : 0;
	while (node && count < NODES_MAX && memory_words(walk, node, words, 3)) {
		memory_found(walk, use, "nodes", words[1], words[1] + words[2]);
		node = words[0];
		count++;
	}
	return count > 0;
}

static bool find_old_nodes(const struct memory_walk *walk, uint64_t variable, enum vm_use use)
{
	uint64_t list, node;
	uint32_t count = 0;

	if (!variable)
		return false;
	list = memory_word(walk, variable, 0);
	node = list ? memory_word(walk, list, OLD_LIST_FIRST) : 0;
	for (; node && count < NODES_MAX; count++) {
		memory_found(walk, use, "nodes", memory_word(walk, node, OLD_NODE_LOW),
			     memory_word(walk, node, OLD_NODE_HIGH));
		node = memory_word(walk, node, 0);
	}
	return count > 0;
}

struct class_look {
	const struct memory_walk *walk;
	struct map64 told; /* starts of mappings */
	uint32_t looked;
	uint32_t most;
};

/* What one look found, the next one need not look for. */
static void remember(struct memory_witnesses *witnesses, enum vm_use use, uint64_t addr)
{
	if (witnesses->count < MEMORY_WITNESSES_MAX)
		witnesses->items[witnesses->count++] =
			(struct memory_witness){ .use = use, .addr = addr };
}

/* Whether the mapping is one that was not told of. */
static bool tell_mapping(struct class_look *look, enum vm_use use, uint64_t addr)
{
	const struct mapping *mapping = addr ? maps_find(look->walk->maps, addr) : NULL;
	uint32_t known;

	if (!mapping || mapping->path[0] || map64_get(&look->told, mapping->start, &known) ||
	    map64_set(&look->told, mapping->start, 1))
		return false;
	memory_found_loose(look->walk, use, "mappings that hold classes", mapping->start,
			   mapping->end);
	return true;
}

static void tell_and_remember(struct class_look *look, enum vm_use use, uint64_t addr)
{
	if (tell_mapping(look, use, addr))
		remember(look->walk->witnesses, use, addr);
}

static void tell_remembered(struct class_look *look)
{
	const struct memory_witnesses *witnesses = look->walk->witnesses;

	for (uint32_t i = 0; i < witnesses->count; i++)
		tell_mapping(look, witnesses->items[i].use, witnesses->items[i].addr);
}

/* Whether it has a name as classes have: what is linked to may be no class any more. */
static bool is_class(const struct class_look *look, uint64_t klass)
{
	const struct fields *f = &look->walk->memory->hotspot.field;
	const struct target *t = look->walk->target;
	uint64_t symbol = 0, length = 0;
	uint8_t first = 0;
	int err = field_read(t, klass, f->klass_name, &symbol);

	if (!err)
		err = field_read(t, symbol,
				 field_exists(f->symbol_length) ? f->symbol_length
								: f->symbol_length_and_refcount,
				 &length);
	if (!err)
		err = target_read(t, symbol + f->symbol_body.at, &first, 1);
	if (!field_exists(f->symbol_length))
		length >>= 16;
	return !err && length && length <= UINT16_MAX && first > ' ';
}

static void look_at_class(struct class_look *look, uint64_t klass)
{
	const struct memory_members *m = &look->walk->memory->member;
	int32_t layout;

	look->looked++;
	/* Classes of arrays have no constants; their layout is negative. */
	layout = (int32_t)memory_word(look->walk, klass, m->klass_layout);
	if (layout < 0)
		return;
	/* First: without a class space both lie in metaspace. */
	tell_and_remember(look, VM_METASPACE, memory_word(look->walk, klass, m->klass_constants));
	tell_and_remember(look, VM_CLASS_SPACE, klass);
}

/* The newest loaders come first: those of the look before begin where its first one is. */
static void look_at_loaders(struct class_look *look)
{
	const struct memory_members *m = &look->walk->memory->member;
	uint64_t known = look->walk->witnesses->newest_loader;
	uint64_t loader = memory_word(look->walk, 0, m->cld_head), klass;

	look->walk->witnesses->newest_loader = loader;
	while (loader && look->looked < look->most) {
		if (loader == known && look->looked + KLASSES_NEW < look->most)
			look->most = look->looked + KLASSES_NEW;
		klass = memory_word(look->walk, loader, m->cld_klasses);
		while (klass && look->looked < look->most) {
			look_at_class(look, klass);
			klass = memory_word(look->walk, klass, m->klass_next);
		}
		loader = memory_word(look->walk, loader, m->cld_next);
		look->looked++;
	}
}

/* JDK 8: the links between classes, from those the VM has variables of. */
static void look_along_links(struct class_look *look)
{
	const struct vm_memory *memory = look->walk->memory;
	const uint64_t links[] = { memory->member.klass_super, memory->member.klass_subklass,
				   memory->member.klass_sibling, memory->member.klass_next };
	const size_t link_count = sizeof(links) / sizeof(*links);
	uint64_t *todo = calloc(KLASSES_MAX + MEMORY_KLASSES_MAX, sizeof(*todo));
	struct map64 seen = { 0 };
	size_t count = 0;
	uint32_t known;

	for (uint32_t i = 0; todo && i < memory->klass_count; i++)
		todo[count++] = memory_word(look->walk, memory->klasses[i], 0);
	while (count) {
		uint64_t klass = todo[--count];

		if (!maps_find(look->walk->maps, klass) || map64_get(&seen, klass, &known) ||
		    look->looked >= look->most || !is_class(look, klass) ||
		    map64_set(&seen, klass, 1))
			continue;
		look_at_class(look, klass);
		for (size_t i = 0; i < link_count && count + link_count < KLASSES_MAX; i++)
			todo[count++] = memory_word(look->walk, klass, links[i]);
	}
	map64_free(&seen);
	free(todo);
}

void memory_metaspace(const struct memory_walk *walk)
{
	const struct memory_symbols *symbol = &walk->memory->symbol;
	struct class_look look = { .walk = walk, .most = KLASSES_MAX };
	bool found;

	found = find_nodes(walk, symbol->nonclass_context, VM_METASPACE);
	found |= find_nodes(walk, symbol->class_context, VM_CLASS_SPACE);
	found |= find_old_nodes(walk, symbol->nonclass_list, VM_METASPACE);
	found |= find_old_nodes(walk, symbol->class_list, VM_CLASS_SPACE);
	if (found)
		return;
	tell_remembered(&look);
	if (walk->memory->member.cld_klasses != NO_MEMBER) {
		look_at_loaders(&look);
	} else {
		if (walk->witnesses->count)
			look.most = KLASSES_NEW;
		look_along_links(&look);
	}
	map64_free(&look.told);
}
