/* SPDX-License-Identifier: Apache-2.0 */
#include "live/klasses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "jvm/jvm.h"
#include "jvm/loader.h"
#include "live/process.h"
#include "model/names.h"
#include "model/recording.h"

#define NAME_MAX_BYTES 4096 /* a longer name is cut */

static uint32_t read_name(const struct klasses *klasses, const struct process *p,
			  struct recording *rec, uint64_t symbol)
{
	struct strbuf normal = { 0 }, raw = { 0 };
	char text[NAME_MAX_BYTES];
	int len = loader_symbol(p->target, &klasses->layout, symbol, text, sizeof(text));
	uint32_t string;

	if (len <= 0)
		return 0;
	names_type(text, strlen(text), &normal, &raw);
	string = rec_string(rec, strbuf_text(&normal), normal.len);
	strbuf_free(&normal);
	strbuf_free(&raw);
	return string;
}

static void remember(struct klasses *klasses, uint64_t klass, const struct klass_name *name)
{
	uint32_t capacity = klasses->capacity ? klasses->capacity * 2 : 256;
	struct klass_name *names;
	uint32_t at;

	if (map64_get(&klasses->by_address, klass, &at)) {
		klasses->names[at] = *name;
		return;
	}
	if (klasses->count == KLASSES_MAX) {
		map64_free(&klasses->by_address);
		klasses->count = 0;
	}
	if (klasses->count == klasses->capacity) {
		names = reallocarray(klasses->names, capacity, sizeof(*names));
		if (!names)
			return;
		klasses->names = names;
		klasses->capacity = capacity;
	}
	if (!map64_set(&klasses->by_address, klass, klasses->count))
		klasses->names[klasses->count++] = *name;
}

uint32_t klasses_name(struct klasses *klasses, const struct process *p, struct recording *rec,
		      uint64_t klass)
{
	struct klass_name name = { 0 };
	uint32_t at;

	if (!klass || !p->jvm)
		return 0;
	if (!klasses->known) {
		int err = jvm_class_layout(p->jvm, &klasses->layout);

		klasses->known = !err || err == -EAGAIN;
		if (!klasses->known)
			return 0;
	}
	name.symbol = loader_class_symbol(p->target, &klasses->layout, klass);
	if (map64_get(&klasses->by_address, klass, &at) &&
	    (!name.symbol || klasses->names[at].symbol == name.symbol))
		return klasses->names[at].string;
	if (!name.symbol)
		return 0;
	name.string = read_name(klasses, p, rec, name.symbol);
	if (name.string)
		remember(klasses, klass, &name);
	return name.string;
}

void klasses_free(struct klasses *klasses)
{
	map64_free(&klasses->by_address);
	free(klasses->names);
	*klasses = (struct klasses){ 0 };
}
