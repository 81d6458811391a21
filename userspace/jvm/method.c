/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/method.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/debuginfo.h"
#include "jvm/method_read.h"

#define LINE_UNKNOWN (-1)
#define LINE_NATIVE  (-2)

static uint64_t key_of(uint64_t address, uint32_t cookie)
{
	uint64_t words[2] = { address, cookie };

	return map64_hash(words, sizeof(words));
}

static struct method *find_known(const struct methods *methods, uint64_t address, uint32_t cookie)
{
	struct method *method;
	uint32_t index;

	if (!map64_get(&methods->by_key, key_of(address, cookie), &index))
		return NULL;
	method = methods->items[index];
	if (method->shown.address != address || method_cookie(method->shown.const_method) != cookie)
		return NULL;
	return method;
}

static int remember(struct methods *m, struct method *method)
{
	uint32_t capacity = m->capacity ? m->capacity * 2 : 256;
	uint32_t cookie = method_cookie(method->shown.const_method);
	struct method **items;

	if (m->count == m->capacity) {
		items = reallocarray(m->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		m->items = items;
		m->capacity = capacity;
	}
	if (map64_set(&m->by_key, key_of(method->shown.address, cookie), m->count) ||
	    map64_set(&m->last, method->shown.address, m->count) ||
	    map64_set(&m->of_class, method->klass, m->count))
		return -ENOMEM;
	m->items[m->count++] = method;
	return 0;
}

bool method_class_is_hidden(const char *class_name)
{
	const char *at = strstr(class_name, "+0x");

	if (!at)
		at = strstr(class_name, "/0x");
	return at && at[3];
}

/* The method that was last known at this address, NULL: none. */
static struct method *find_last(const struct methods *methods, uint64_t address)
{
	uint32_t index;

	return map64_get(&methods->last, address, &index) ? methods->items[index] : NULL;
}

static int read_new(struct methods *methods, uint64_t address, const struct method **out)
{
	struct method found, *method;
	int err = method_read(methods, address, &found);

	if (err)
		return err;
	method = names_alloc(&methods->names, sizeof(*method));
	if (!method)
		return -ENOMEM;
	*method = found;
	method->checked = methods->generation;
	method->shown.number = ++methods->numbers;
	err = remember(methods, method);
	if (!err)
		*out = method;
	return err;
}

/* Gives those that are known and still there; NULL for the others. */
static int get_known(const struct methods *methods, const uint64_t *addresses, size_t count,
		     const struct method **out)
{
	struct method *known[METHODS_AT_ONCE];
	bool same[METHODS_AT_ONCE];
	int err;

	for (size_t i = 0; i < count; i++)
		known[i] = find_last(methods, addresses[i]);
	err = method_read_same(methods, (const struct method *const *)known, count, same);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		out[i] = same[i] ? known[i] : NULL;
		if (same[i])
			known[i]->checked = methods->generation;
	}
	return 0;
}

int methods_get_some(struct methods *methods, const uint64_t *addresses, size_t count,
		     const struct method **out)
{
	size_t some;
	int err = 0;

	for (size_t at = 0; at < count && !err; at += some) {
		some = count - at < METHODS_AT_ONCE ? count - at : METHODS_AT_ONCE;
		err = get_known(methods, addresses + at, some, out + at);
	}
	for (size_t i = 0; i < count && !err; i++) {
		if (out[i])
			continue;
		err = read_new(methods, addresses[i], &out[i]);
		if (err != -ENOMEM && err != -ESRCH)
			err = 0;
	}
	return err;
}

int methods_get(struct methods *methods, uint64_t address, const struct method **out)
{
	const struct method *known;
	int err = get_known(methods, &address, 1, &known);

	if (!err && !known)
		err = read_new(methods, address, &known);
	if (!err)
		*out = known;
	return err;
}

int methods_get_exactly(struct methods *methods, uint64_t address, uint32_t cookie,
			const struct method **out)
{
	const struct method *known = find_known(methods, address, cookie);
	const struct method *now;
	int err;

	if (known && known->checked == methods->generation) {
		*out = known;
		return 0;
	}
	err = methods_get(methods, address, &now);
	if (!err && method_cookie(now->shown.const_method) == cookie) {
		*out = now;
		return 0;
	}
	/* The method is gone; its name is not. */
	if (known) {
		*out = known;
		return 0;
	}
	return err ? err : -ESTALE;
}

int methods_number(struct methods *methods, const struct method_place *places, size_t count,
		   uint32_t *out)
{
	const struct method *found[METHODS_NUMBERED], *known;
	uint64_t addresses[METHODS_NUMBERED];
	size_t wanted[METHODS_NUMBERED], missing = 0;
	int err;

	for (size_t i = 0; i < count; i++) {
		known = find_known(methods, places[i].address, places[i].cookie);
		out[i] = known ? known->shown.number : 0;
		if (known && known->checked == methods->generation)
			continue;
		wanted[missing] = i;
		addresses[missing++] = places[i].address;
	}
	err = missing ? methods_get_some(methods, addresses, missing, found) : 0;
	for (size_t i = 0; i < missing && !err; i++) {
		const struct method_place *place = &places[wanted[i]];

		known = find_known(methods, place->address, place->cookie);
		out[wanted[i]] = known ? known->shown.number : 0;
	}
	return err;
}

int method_line(const struct methods *methods, const struct method *method, int bci)
{
	if (method->shown.native)
		return LINE_NATIVE;
	if (!method->lines)
		return LINE_UNKNOWN;
	return debuginfo_line(method->lines, method->lines_size, methods->bias, bci < 0 ? 0 : bci);
}

size_t methods_memory(const struct methods *methods)
{
	return names_memory(&methods->names) + methods->capacity * sizeof(*methods->items) +
	       (methods->by_key.capacity + methods->last.capacity + methods->of_class.capacity) *
		       sizeof(struct map64_slot);
}

void methods_free(struct methods *methods)
{
	names_free(&methods->names);
	free(methods->items);
	map64_free(&methods->by_key);
	map64_free(&methods->last);
	map64_free(&methods->of_class);
	methods->items = NULL;
	methods->count = 0;
	methods->capacity = 0;
}
