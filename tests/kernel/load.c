/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load OBJECT: loads the linked BPF object as the recorder does, for several depths, and prints
 * what the kernel's verifier had to do for each program.
 *
 * Prints one line per program and depth: depth, program, verified instructions. Fails when a
 * program does not load or is too much work for the verifier: each kernel counts differently, and
 * the limit is a million.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/jvs_abi.h"
#include "tests/kernel/object.h"

#define VERIFIED_MAX 200000
#define LOG_BYTES    (1 << 20)

static const uint32_t depths[] = { 64, 1000, 1024, 8192, JVS_DEPTH_MAX };

static int set_entries(struct bpf_object *object, const char *name, uint32_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	if (!map) {
		fprintf(stderr, "%s: no such map\n", name);
		return -ENOENT;
	}
	return bpf_map__set_max_entries(map, entries);
}

static int set_sizes(struct bpf_object *object, uint32_t depth)
{
	uint32_t slots = (uint32_t)libbpf_num_possible_cpus() * JVS_SLOTS_PER_CPU;
	uint32_t parts = JVS_PARTS_OF(depth);
	int err;

	err = object_set_constant(object, "jvs_max_depth", depth);
	if (!err)
		err = object_set_constant(object, "jvs_parts_per_slot", parts);
	if (!err)
		err = set_entries(object, "jvs_slots", slots);
	if (!err)
		err = set_entries(object, "jvs_parts", slots * parts);
	return err;
}

/* Returns 0, or 1 when a program was too much work. */
static int print_programs(const struct bpf_object *object, uint32_t depth)
{
	struct bpf_prog_info info;
	struct bpf_program *program;
	uint32_t size;
	int bad = 0;

	bpf_object__for_each_program(program, object)
	{
		info = (struct bpf_prog_info){ 0 };
		size = sizeof(info);
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size)) {
			fprintf(stderr, "%s: %s\n", bpf_program__name(program), strerror(errno));
			return 1;
		}
		printf("depth %5u  %-16s %6u verified instructions\n", depth,
		       bpf_program__name(program), info.verified_insns);
		bad |= info.verified_insns == 0 || info.verified_insns > VERIFIED_MAX;
	}
	return bad;
}

/* Programs that are loaded on request only are loaded here too. */
static int load(const char *path, uint32_t depth, char *log)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;
	int err;

	if (!object) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	err = set_sizes(object, depth);
	bpf_object__for_each_program(program, object)
	{
		bpf_program__set_autoload(program, true);
		bpf_program__set_log_buf(program, log, LOG_BYTES);
	}
	if (!err)
		err = bpf_object__load(object);
	if (err)
		fprintf(stderr, "depth %u: not loaded: %s\n%s\n", depth, strerror(-err), log);
	else
		err = print_programs(object, depth);
	bpf_object__close(object);
	return err != 0;
}

int main(int argc, char **argv)
{
	char *log = calloc(1, LOG_BYTES);
	int bad = 0;

	if (argc != 2 || !log) {
		fprintf(stderr, "usage: load OBJECT\n");
		return 2;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		bad |= load(argv[1], depths[i], log);
	free(log);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
