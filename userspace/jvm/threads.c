/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads.h"

#include <errno.h>
#include <stdlib.h>

#include "target/target.h"

#define THREADS_MAX  65536
#define THREAD_BYTES 2048 /* the members read lie within 500 bytes of each other */
#define TRIES	     4	  /* how often the list is read again when it was replaced meanwhile */

/* The part of a JavaThread that holds what is read here. */
struct window {
	uint64_t start;
	size_t size;
};

struct thread_list {
	struct jvm_thread *items; /* owned */
	size_t count;
	size_t capacity;
};

static void widen(struct window *window, struct field f)
{
	uint64_t end = window->start + window->size;

	if (!field_exists(f))
		return;
	if (!window->size || f.at < window->start)
		window->start = f.at;
	if (f.at + f.size > end)
		end = f.at + f.size;
	window->size = end - window->start;
}

static struct field inside(const struct window *window, struct field f)
{
	f.at -= window->start;
	return f;
}

/* next: the older list's link, 0 when it has none. */
static int read_thread(const struct target *t, const struct hotspot *h, uint64_t address,
		       struct jvm_thread *out, uint64_t *next)
{
	const struct fields *f = &h->field;
	struct window window = { 0 };
	uint8_t bytes[THREAD_BYTES];
	uint64_t os_thread, tid;
	int err;

	widen(&window, f->thread_os_thread);
	widen(&window, f->thread_state);
	widen(&window, f->thread_next);
	if (window.size > sizeof(bytes))
		return -EBADMSG;
	err = target_read(t, address + window.start, bytes, window.size);
	if (err)
		return err;
	*next = field_of(inside(&window, f->thread_next), bytes, window.size);
	os_thread = field_of(inside(&window, f->thread_os_thread), bytes, window.size);
	if (!os_thread)
		return -ENOENT;
	err = field_read(t, os_thread, f->os_thread_id, &tid);
	if (err)
		return err;
	out->java_thread = address;
	out->ns_tid = (pid_t)tid;
	out->state = layout_thread_state(
		h, (uint32_t)field_of(inside(&window, f->thread_state), bytes, window.size));
	return out->ns_tid > 0 ? 0 : -ENOENT;
}

static int add_thread(struct thread_list *list, const struct jvm_thread *thread)
{
	size_t capacity = list->capacity ? list->capacity * 2 : 64;
	struct jvm_thread *items;

	if (list->count == list->capacity) {
		items = reallocarray(list->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *thread;
	return 0;
}

/* The addresses in a ThreadsList. *array is the caller's to free. */
static int read_addresses(const struct target *t, const struct hotspot *h, uint64_t list,
			  uint64_t **array, uint64_t *length)
{
	uint64_t data, *addresses;
	int err;

	err = field_read(t, list, h->field.threads_length, length);
	if (!err)
		err = field_read(t, list, h->field.threads_array, &data);
	if (err)
		return err;
	if (*length > THREADS_MAX)
		return -EFAULT;
	addresses = calloc(*length + 1, sizeof(*addresses));
	if (!addresses)
		return -ENOMEM;
	err = *length ? target_read(t, data, addresses, *length * sizeof(*addresses)) : 0;
	if (err) {
		free(addresses);
		return err;
	}
	*array = addresses;
	return 0;
}

/* A list that was replaced is freed soon after: then what was read may be anything. */
static int read_current_list(const struct target *t, const struct hotspot *h, uint64_t **array,
			     uint64_t *length)
{
	uint64_t list, again;
	int err = -EFAULT;

	for (int i = 0; i < TRIES; i++) {
		err = field_read(t, 0, h->field.thread_list, &list);
		if (err)
			return err;
		*length = 0;
		*array = NULL;
		if (!list)
			return 0;
		err = read_addresses(t, h, list, array, length);
		if (!err && !field_read(t, 0, h->field.thread_list, &again) && again == list)
			return 0;
		if (!err)
			free(*array);
		if (err == -ESRCH || err == -ENOMEM)
			return err;
		err = -EFAULT;
	}
	return err;
}

static int read_list(const struct target *t, const struct hotspot *h, struct thread_list *out)
{
	struct jvm_thread thread;
	uint64_t *addresses;
	uint64_t length, next;
	int err;

	err = read_current_list(t, h, &addresses, &length);
	if (err)
		return err;
	for (uint64_t i = 0; i < length && !err; i++) {
		err = read_thread(t, h, addresses[i], &thread, &next);
		if (!err)
			err = add_thread(out, &thread);
		else if (err != -ESRCH)
			err = 0;
	}
	free(addresses);
	return err;
}

/* A thread that ended while it was read cuts the rest off. */
static int read_chain(const struct target *t, const struct hotspot *h, struct thread_list *out)
{
	struct jvm_thread thread;
	uint64_t at, next;
	int err;

	err = field_read(t, 0, h->field.first_thread, &at);
	for (size_t i = 0; !err && at && i < THREADS_MAX; i++, at = next) {
		next = 0;
		err = read_thread(t, h, at, &thread, &next);
		if (!err)
			err = add_thread(out, &thread);
		else if (err != -ESRCH)
			err = 0;
	}
	return err;
}

int threads_read(const struct target *t, const struct hotspot *h, struct jvm_thread **out,
		 size_t *count)
{
	const struct fields *f = &h->field;
	struct thread_list list = { 0 };
	int err = -ENOENT;

	if (field_exists(f->thread_list) && field_exists(f->threads_length) &&
	    field_exists(f->threads_array))
		err = read_list(t, h, &list);
	else if (field_exists(f->first_thread) && field_exists(f->thread_next))
		err = read_chain(t, h, &list);
	if (err) {
		free(list.items);
		return err;
	}
	*out = list.items;
	*count = list.count;
	return 0;
}
