/* SPDX-License-Identifier: Apache-2.0 */
#include "target/ksyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX (4u << 20)	 /* 120,000 are usual */
#define NAMES_MAX   (256u << 20) /* bytes */
#define REACH_MAX   (1u << 20)	 /* no function is as long; behind the last one is no text */

struct ksym {
	uint64_t addr;
	uint32_t name; /* offset into names */
};

struct ksyms {
	struct ksym *items; /* owned; sorted by address */
	size_t count;
	size_t capacity;
	char *names; /* owned */
	size_t names_size;
	size_t names_capacity;
	bool read;
};

int ksyms_open(struct ksyms **out)
{
	struct ksyms *syms = calloc(1, sizeof(*syms));

	if (!syms)
		return -ENOMEM;
	*out = syms;
	return 0;
}

void ksyms_close(struct ksyms *syms)
{
	if (!syms)
		return;
	free(syms->items);
	free(syms->names);
	free(syms);
}

static int add_name(struct ksyms *syms, const char *name, size_t len)
{
	size_t capacity = syms->names_capacity ? syms->names_capacity * 2 : 1u << 20;
	char *names;

	if (syms->names_size + len + 1 > syms->names_capacity) {
		names = capacity > NAMES_MAX ? NULL : realloc(syms->names, capacity);
		if (!names)
			return -ENOMEM;
		syms->names = names;
		syms->names_capacity = capacity;
	}
	memcpy(syms->names + syms->names_size, name, len);
	syms->names[syms->names_size + len] = '\0';
	syms->names_size += len + 1;
	return 0;
}

static int add(struct ksyms *syms, uint64_t addr, const char *name, size_t len)
{
	size_t capacity = syms->capacity ? syms->capacity * 2 : 1u << 16;
	size_t at = syms->names_size;
	struct ksym *items;

	if (syms->count == SYMBOLS_MAX)
		return -ENOMEM;
	if (syms->count == syms->capacity) {
		items = reallocarray(syms->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		syms->items = items;
		syms->capacity = capacity;
	}
	if (add_name(syms, name, len))
		return -ENOMEM;
	syms->items[syms->count++] = (struct ksym){ .addr = addr, .name = (uint32_t)at };
	return 0;
}

/* "ffffffff81000000 T _text", a module's with "\t[xfs]" behind it. */
static int add_line(struct ksyms *syms, char *line)
{
	char *at;
	uint64_t addr = strtoull(line, &at, 16);
	char *tab;

	/* Addresses are all 0 for a reader without rights. */
	if (!addr || at == line || strnlen(at, 4) < 4 || !strchr("tTwW", at[1]))
		return 0;
	at += 3;
	at[strcspn(at, "\n")] = '\0';
	tab = strchr(at, '\t');
	if (tab)
		*tab = ' ';
	return add(syms, addr, at, strlen(at));
}

static int compare(const void *a, const void *b)
{
	const struct ksym *x = a;
	const struct ksym *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* Of several names for one address always the same one: the kernel's first. */
	return (x->name < y->name) - (x->name > y->name);
}

/* What could be read is there; without memory it is less. */
static void read_all(struct ksyms *syms)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	size_t line_size = 0;
	char *line = NULL;

	syms->read = true;
	if (!file)
		return;
	while (getline(&line, &line_size, file) >= 0) {
		if (add_line(syms, line))
			break;
	}
	free(line);
	fclose(file);
	if (syms->count)
		qsort(syms->items, syms->count, sizeof(*syms->items), compare);
}

const char *ksyms_find(struct ksyms *syms, uint64_t addr)
{
	size_t low = 0;
	size_t high;
	size_t middle;

	if (!syms->read)
		read_all(syms);
	high = syms->count;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (syms->items[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || addr - syms->items[low - 1].addr >= REACH_MAX)
		return NULL;
	return syms->names + syms->items[low - 1].name;
}
