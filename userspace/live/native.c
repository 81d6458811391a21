/* SPDX-License-Identifier: Apache-2.0 */
#include "live/native.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "live/native_impl.h"
#include "live/process.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/target.h"

#define GROUP "native"

/*
 * Both os::malloc are whole, and so are the two of strdup; of realloc in JDK 11, while later the
 * first one calls the other.
 */
static const struct probe vm_probes[] = {
	{ "_ZN2os6mallocEm@", PROBE_CALL, JVS_NATIVE_MALLOC },
	{ "_ZN2os6mallocEm@RK15NativeCallStack", PROBE_CALL, JVS_NATIVE_MALLOC },
	{ "_ZN2os6strdupEPKc@", PROBE_CALL, JVS_NATIVE_STRDUP },
	{ "_ZN2os16strdup_check_oomEPKc@", PROBE_CALL, JVS_NATIVE_STRDUP },
	{ "_ZN2os7reallocEPvm@", PROBE_CALL, JVS_NATIVE_REALLOC },
	{ "_ZN2os7reallocEPvm@RK15NativeCallStack", PROBE_CALL, JVS_NATIVE_REALLOC },
};

static const struct probe vm_frees[] = {
	{ "_ZN2os4freeEPv", PROBE_ENTRY, JVS_NATIVE_FREE },
};

static const struct probe libc_probes[] = {
	{ "malloc", PROBE_CALL, JVS_NATIVE_LIBC_MALLOC },
	{ "calloc", PROBE_CALL, JVS_NATIVE_LIBC_CALLOC },
	{ "realloc", PROBE_CALL, JVS_NATIVE_LIBC_REALLOC },
	{ "memalign", PROBE_CALL, JVS_NATIVE_LIBC_ALIGNED },
	{ "aligned_alloc", PROBE_CALL, JVS_NATIVE_LIBC_ALIGNED },
	{ "posix_memalign", PROBE_CALL, JVS_NATIVE_LIBC_POSIX_ALIGN },
};

static const struct probe libc_frees[] = {
	{ "free", PROBE_ENTRY, JVS_NATIVE_LIBC_FREE },
};

/* What is probed together, and in which file. */
enum { LIBJVM, LIBJVM_FREE, LIBC, LIBC_FREE };

static const struct {
	const char *name;
	const struct probe *probes;
	size_t count;
} files[NATIVE_SETS] = {
	[LIBJVM] = { "libjvm.so", vm_probes, sizeof(vm_probes) / sizeof(vm_probes[0]) },
	[LIBJVM_FREE] = { "libjvm.so", vm_frees, sizeof(vm_frees) / sizeof(vm_frees[0]) },
	[LIBC] = { "libc.so.6", libc_probes, sizeof(libc_probes) / sizeof(libc_probes[0]) },
	[LIBC_FREE] = { "libc.so.6", libc_frees, sizeof(libc_frees) / sizeof(libc_frees[0]) },
};

/* ---- loading */

static const char *const maps[] = { "jvs_native_controls",   "jvs_native_counts",
				    "jvs_native_site_ids",   "jvs_native_sites",
				    "jvs_native_site_count", "jvs_native_live",
				    "jvs_native_threads",    "jvs_native_free_sites",
				    "jvs_mapping_counts",    "jvs_mapping_threads",
				    "jvs_mapping_controls" };

/* How many entries a map is to have; 0: as it is declared. */
static uint32_t entries_of(const struct native_sizes *sizes, const char *map)
{
	static const char *const of_sites[] = { "jvs_native_site_ids", "jvs_native_sites",
						"jvs_native_free_sites" };

	if (!strcmp(map, "jvs_native_live"))
		return sizes->live_blocks;
	for (size_t i = 0; i < sizeof(of_sites) / sizeof(of_sites[0]); i++)
		if (!strcmp(map, of_sites[i]))
			return sizes->sites;
	return 0;
}

int native_choose(struct bpf_object *object, const struct native_sizes *sizes, bool wanted)
{
	enum probe_links links = wanted ? probes_best() : PROBE_SINGLE;
	int err = probes_choose(object, GROUP, links, wanted);

	if (!err)
		err = probes_choose(object, "mapping", links, wanted);

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]) && !err; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, maps[i]);
		uint32_t entries = entries_of(sizes, maps[i]);

		err = map ? bpf_map__set_autocreate(map, wanted) : -ENOENT;
		if (!err && entries)
			err = bpf_map__set_max_entries(map, entries);
	}
	return err;
}

void native_fill_tables(uint32_t *log_table, uint32_t *weight)
{
	for (int i = 0; i <= JVS_NATIVE_TABLE; i++) {
		double x = (double)i * JVS_NATIVE_WEIGHT_MAX / JVS_NATIVE_TABLE;

		/* Place 0 is not used: see sample_distance(). */
		log_table[i] =
			i ? (uint32_t)(-log((double)i / JVS_NATIVE_TABLE) * JVS_NATIVE_TABLE_ONE)
			  : 0;
		weight[i] = (uint32_t)((i ? x / -expm1(-x) : 1) * JVS_NATIVE_TABLE_ONE);
	}
}

static void *map_array(const struct bpf_object *object, const char *name, size_t size, int rights)
{
	void *at = mmap(NULL, size, rights, MAP_SHARED,
			bpf_object__find_map_fd_by_name(object, name), 0);

	return at == MAP_FAILED ? NULL : at;
}

/* BPF rounds values of an array up to 8 bytes; all of these are multiples of it. */
#define CONTROLS_SIZE (sizeof(struct jvs_native_control) * JVS_MAX_TARGETS)

static size_t sites_size(const struct native *native)
{
	return sizeof(*native->sites) * native->max_sites;
}

static uint32_t entries_in(const struct bpf_object *object, const char *name)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__max_entries(map) : 0;
}

int native_open(struct bpf_object *object, const struct native_options *options,
		struct native **out)
{
	struct native *native = calloc(1, sizeof(*native));

	if (!native)
		return -ENOMEM;
	native->object = object;
	native->libc = options->libc;
	native->max_overhead = options->max_overhead;
	native->links = probes_best();
	native->counts_fd = bpf_object__find_map_fd_by_name(object, "jvs_native_counts");
	native->live_fd = bpf_object__find_map_fd_by_name(object, "jvs_native_live");
	native->ids_fd = bpf_object__find_map_fd_by_name(object, "jvs_native_site_ids");
	native->mapping_counts_fd = bpf_object__find_map_fd_by_name(object, "jvs_mapping_counts");
	native->mapping_controls_fd =
		bpf_object__find_map_fd_by_name(object, "jvs_mapping_controls");
	native->free_fd = bpf_object__find_map_fd_by_name(object, "jvs_native_free_sites");
	native->max_sites = entries_in(object, "jvs_native_sites");
	native->known = calloc(native->max_sites + 1ul, sizeof(*native->known));
	native->controls =
		map_array(object, "jvs_native_controls", CONTROLS_SIZE, PROT_READ | PROT_WRITE);
	native->sites =
		map_array(object, "jvs_native_sites", sites_size(native), PROT_READ | PROT_WRITE);
	native->site_count =
		map_array(object, "jvs_native_site_count", sizeof(*native->site_count), PROT_READ);
	native->unresolved = 1;
	native->trap_ns = probes_trap_ns(object, GROUP, native->links);
	log_debug("a probe costs %.0f ns beside its program", native->trap_ns);
	if (!native->known || !native->controls || !native->sites || !native->site_count) {
		log_error("native memory: cannot be recorded: %s", strerror(ENOMEM));
		native_close(native);
		return -ENOMEM;
	}
	*out = native;
	return 0;
}

static void unmap(void *at, size_t size)
{
	if (at)
		munmap(at, size);
}

void native_give_up(struct native *native, struct probes_leaving *leaving)
{
	for (uint32_t i = 0; i < JVS_MAX_TARGETS; i++) {
		for (int set = 0; set < NATIVE_SETS; set++)
			probes_leave(&native->targets[i].sets[set], leaving);
		for (int set = 0; set < MAPPING_SETS; set++)
			probes_leave(&native->mappings.targets[i].sets[set], leaving);
	}
}

void native_close(struct native *native)
{
	if (!native)
		return;
	for (uint32_t i = 0; i < JVS_MAX_TARGETS; i++) {
		native_free_retired(&native->targets[i]);
		for (int set = 0; set < NATIVE_SETS; set++)
			probes_free(&native->targets[i].sets[set]);
	}
	unmap(native->controls, CONTROLS_SIZE);
	unmap(native->sites, sites_size(native));
	unmap(native->site_count, sizeof(*native->site_count));
	for (uint32_t i = 0; native->known && i < native->max_sites; i++)
		free(native->known[i].level);
	free(native->known);
	free(native->resting.ids);
	calls_free(&native->calls);
	mappings_free(&native->mappings);
	free(native);
}

/* ---- attaching */

/* One line for a library. file is that of what allocates, with_free of what frees. */
static void say_missing(const struct native *native, const struct process *p, int file, int err,
			int with_free)
{
	const char *name = files[file].name;

	if (err == -ENOENT && file == LIBJVM && native->libc)
		log_warn("pid %d: %s has no symbols of its allocator: the VM's memory is that of "
			 "libc, without tags",
			 p->target->pid, name);
	else if (err == -ENOENT)
		log_warn("pid %d: %s has no symbols of its allocator: native memory is not "
			 "recorded%s",
			 p->target->pid, name,
			 file == LIBJVM ? " (-e native=libc needs none)" : "");
	else if (err && err != -ESRCH)
		log_warn("pid %d: %s cannot be probed: %s", p->target->pid, name, strerror(-err));
	else if (!err && with_free && with_free != -ESRCH)
		log_warn("pid %d: %s: its free was not found: what lives is not known",
			 p->target->pid, name);
}

/*
 * Whether os::malloc returns what libc gave it: with NMT on, its header lies before the block. Said
 * by a JVM that has decided about NMT. The number of "off" changed when "unknown" became 0.
 */
static bool is_nmt_off(const struct process *p, struct image *libjvm, const struct mapping *mapping)
{
	uint64_t level_at, table;
	uint32_t level, off;

	if (image_object(libjvm, "_ZN10MemTracker15_tracking_levelE", &level_at, &table) ||
	    target_read_u32(p->target, level_at + image_bias(libjvm, mapping), &level))
		return false;
	off = image_object(libjvm, "_ZN10NMTPreInit6_tableE", &level_at, &table) == 0;
	return level == off;
}

/* Returns 0, or why it cannot be probed. Attached when that is not the budget's to decide. */
static int attach_file(struct native *native, const struct process *p, int file,
		       struct probe_request *request)
{
	struct native_target *t = &native->targets[p->index];
	int err;

	t->tried[file] = true;
	request->probes = files[file].probes;
	request->count = files[file].count;
	err = probes_find(request, &t->sets[file]);
	if (!err && (!t->begun || t->governor.attached))
		probes_attach(&t->sets[file]);
	return err;
}

/* Frees first: a block that is seen to begin is also seen to end. */
static void probe_library(struct native *native, const struct process *p,
			  struct probe_request *request, int file)
{
	struct native_target *t = &native->targets[p->index];
	int err, with_free;

	request->object = native->object;
	request->group = GROUP;
	request->links = native->links;
	request->target = p->target;
	with_free = attach_file(native, p, file + 1, request);
	err = attach_file(native, p, file, request);
	say_missing(native, p, file, err, with_free);
	t->live_lost |= !err && with_free;
}

/* What only a program that runs can tell. */
static void read_libjvm(struct native *native, const struct process *p,
			struct probe_request *request)
{
	struct native_target *t = &native->targets[p->index];

	t->early = false;
	native_read_tags(t, p, request->image, request->mapping);
	if (is_nmt_off(p, request->image, request->mapping))
		request->behind = (struct probe_behind){ JVS_NATIVE_MALLOC, "malloc",
							 JVS_NATIVE_MALLOC_RESULT };
}

static void attach_library(struct native *native, const struct process *p, const struct maps *all,
			   int file)
{
	struct native_target *t = &native->targets[p->index];
	struct probe_request request = { 0 };
	bool unread = file == LIBJVM && (!t->tried[file] || t->early);

	if (t->tried[file] && !unread)
		return;
	request.mapping = process_find_file(p, all, files[file].name, &request.image);
	if (!request.mapping)
		return;
	if (unread)
		read_libjvm(native, p, &request);
	if (!t->tried[file])
		probe_library(native, p, &request, file);
}

/* The kernel books what probes see. */
static void begin_booking(struct native *native, const struct process *p)
{
	struct jvs_native_control *control = &native->controls[p->index];

	if (control->mode != JVS_NATIVE_OFF)
		return;
	control->epoch++;
	__atomic_store_n(&control->mode, JVS_NATIVE_EXACT, __ATOMIC_RELEASE);
}

void native_attach_early(struct native *native, const struct process *p, struct image *libjvm,
			 const struct mapping *mapping)
{
	struct probe_request request = { .image = libjvm, .mapping = mapping };
	struct native_target *t = &native->targets[p->index];

	begin_booking(native, p);
	t->early = true;
	probe_library(native, p, &request, LIBJVM);
}

void native_attach(struct native *native, const struct process *p, const struct maps *all)
{
	struct native_target *t = &native->targets[p->index];

	begin_booking(native, p);
	if (native->libc)
		attach_library(native, p, all, LIBC);
	attach_library(native, p, all, LIBJVM);
	native_attach_mappings(native, p, all);
	if (!t->begun && (t->sets[LIBJVM].attached || t->sets[LIBC].attached))
		native_begin_budget(native, p);
}

bool native_attached(const struct native *native, const struct process *p)
{
	const struct native_target *t = &native->targets[p->index];

	return t->tried[LIBJVM] && !t->early && (t->tried[LIBC] || !native->libc);
}

void native_stop(struct native *native, const struct process *p)
{
	__atomic_store_n(&native->controls[p->index].mode, JVS_NATIVE_OFF, __ATOMIC_RELEASE);
}

void native_forget(struct native *native, const struct process *p)
{
	struct native_target *t = &native->targets[p->index];

	native_stop(native, p);
	t->slice_end_ns = 0;
	for (int set = 0; set < NATIVE_SETS; set++)
		probes_free(&t->sets[set]);
	native_forget_mappings(native, p->index);
	calls_forget(&native->calls, p->index);
	native_drop_accounts(native, p->index);
}
