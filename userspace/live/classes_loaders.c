/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "jvm/loader.h"
#include "live/classes_impl.h"
#include "live/decode.h"
#include "live/process.h"
#include "model/names.h"
#include "model/recording.h"
#include "target/target.h"

/* Class loaders: an address and a generation each. */

#define LOADERS_ENDED 8192 /* remembered: more than are unloaded at once, before their classes */

uint32_t classes_string(struct recording *rec, const char *text)
{
	return *text ? rec_string(rec, text, strlen(text)) : 0;
}

int64_t classes_time(const struct decoder *d, uint64_t time_ns)
{
	return d->epoch_ns + (int64_t)time_ns;
}

void classes_describe_loader(struct classes *classes, const struct process *p,
			     struct recording *rec, uint32_t id)
{
	const struct jvs_class_layout *layout = &classes->layouts[p->index];
	struct rec_loader *loader = rec_loader_get(rec, id);
	char text[JVS_CLASS_RULE_MAX];
	uint64_t klass, symbol;

	if (!loader || loader->name || layout->loader_klass == JVS_NO_FIELD || !layout->ready ||
	    loader->end_time_ns)
		return;
	if (!target_read_u64(p->target, loader->address + layout->loader_name_and_id, &symbol) &&
	    symbol && loader_symbol(p->target, layout, symbol, text, sizeof(text)) > 0)
		loader->name = classes_string(rec, text);
	if (target_read_u64(p->target, loader->address + layout->loader_klass, &klass) || !klass)
		return;
	symbol = loader_class_symbol(p->target, layout, klass);
	if (!symbol || loader_symbol(p->target, layout, symbol, text, sizeof(text)) <= 0)
		return;
	names_class(text, strlen(text), &classes->normal, &classes->raw);
	loader->type = classes_string(rec, strbuf_text(&classes->normal));
	if (loader->name)
		map64_set(&classes->targets[p->index].by_name,
			  (uint64_t)loader->name << 32 | loader->type, id);
}

static uint64_t loader_key(uint64_t address, uint32_t generation)
{
	return address ^ (uint64_t)generation << 48;
}

uint32_t classes_find_loader(struct class_target *t, const struct process *p, struct recording *rec,
			     uint64_t address, uint32_t generation)
{
	const struct rec_loader fresh = { .jvm = p->rec_jvm,
					  .generation = generation,
					  .address = address };
	uint64_t key = loader_key(address, generation);
	uint32_t id;

	if (map64_get(&t->loaders, key, &id))
		return id;
	id = rec_loader(rec, &fresh);
	if (id)
		map64_set(&t->loaders, key, id);
	return id;
}

/*
 * A hidden class has a ClassLoaderData of its own, which says of itself what that of the loader
 * says. So what has class, name and identity of a loader that lives is that loader.
 */
void classes_take_loader(struct classes *c, const struct process *p, struct recording *rec,
			 const struct jvs_class_loader *record)
{
	struct class_target *t = &c->targets[p->index];
	uint32_t name = 0, type = 0, id;
	struct rec_loader *loader;
	uint64_t both;

	if (record->type_bytes > sizeof(record->type) || record->name_bytes > sizeof(record->name))
		return;
	if (record->name_bytes)
		name = rec_string(rec, record->name, record->name_bytes);
	if (record->type_bytes) {
		names_class(record->type, record->type_bytes, &c->normal, &c->raw);
		type = classes_string(rec, strbuf_text(&c->normal));
	}
	both = (uint64_t)name << 32 | type;
	if (map64_get(&t->by_name, both, &id)) {
		map64_set(&t->loaders, loader_key(record->loader, record->generation), id);
		return;
	}
	id = classes_find_loader(t, p, rec, record->loader, record->generation);
	loader = rec_loader_get(rec, id);
	if (!loader)
		return;
	loader->name = name;
	loader->type = type;
	if (name)
		map64_set(&t->by_name, both, id);
}

/*
 * Forgets the key of a loader that is gone, some time later: its classes are unloaded after it.
 * Addresses and generations would pile up where hidden classes come and go.
 */
static void forget_loader(struct class_target *t, uint64_t key)
{
	if (!t->ended)
		t->ended = calloc(LOADERS_ENDED, sizeof(*t->ended));
	if (!t->ended)
		return;
	if (t->ended_count == LOADERS_ENDED) {
		for (uint32_t i = 0; i < LOADERS_ENDED / 2; i++)
			map64_remove(&t->loaders, t->ended[i]);
		memmove(t->ended, t->ended + LOADERS_ENDED / 2,
			LOADERS_ENDED / 2 * sizeof(*t->ended));
		t->ended_count = LOADERS_ENDED / 2;
	}
	t->ended[t->ended_count++] = key;
}

void classes_end_loader(struct decoder *d, const struct process *p, struct recording *rec,
			const struct jvs_class_loader *record)
{
	struct class_target *t = &d->classes->targets[p->index];
	uint64_t key = loader_key(record->loader, record->generation);
	struct rec_loader *loader;
	uint32_t id;

	if (!map64_get(&t->loaders, key, &id))
		return;
	forget_loader(t, key);
	loader = rec_loader_get(rec, id);
	if (!loader || loader->address != record->loader ||
	    loader->generation != record->generation)
		return;
	loader->end_time_ns = classes_time(d, record->event.time_ns);
	map64_remove(&t->by_name, (uint64_t)loader->name << 32 | loader->type);
}
