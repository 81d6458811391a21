/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TEST_OBJECT_H
#define JVMSCOPE_TEST_OBJECT_H

/* A BPF object file without its skeleton. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a constant is in .rodata, or -1. */
static int object_constant_offset(const struct bpf_object *object, const char *name)
{
	const struct btf *btf = bpf_object__btf(object);
	int section = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	const struct btf_var_secinfo *var;
	const struct btf_type *type;

	if (section < 0)
		return -1;
	type = btf__type_by_id(btf, (uint32_t)section);
	var = btf_var_secinfos(type);
	for (int i = 0; i < btf_vlen(type); i++) {
		const struct btf_type *of = btf__type_by_id(btf, var[i].type);

		if (!strcmp(btf__name_by_offset(btf, of->name_off), name))
			return (int)var[i].offset;
	}
	return -1;
}

static int object_change_map(struct bpf_map *map, int offset, uint32_t value)
{
	size_t size;
	const void *data = bpf_map__initial_value(map, &size);
	char *copy;
	int err;

	if (!data || offset < 0 || (size_t)offset + sizeof(value) > size)
		return -ENOENT;
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, size);
	memcpy(copy + offset, &value, sizeof(value));
	err = bpf_map__set_initial_value(map, copy, size);
	free(copy);
	return err;
}

/* Sets a constant of an object that is not loaded yet. 0 or a negative errno, which is printed. */
static int object_set_constant(struct bpf_object *object, const char *name, uint32_t value)
{
	int err = -ENOENT;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), ".rodata"))
			err = object_change_map(map, object_constant_offset(object, name), value);
	}
	if (err)
		fprintf(stderr, "%s: %s\n", name, strerror(-err));
	return err;
}

#endif
