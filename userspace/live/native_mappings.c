/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "live/mappings.h"
#include "live/native.h"
#include "live/native_impl.h"
#include "live/process.h"
#include "model/native_calls.h"
#include "model/recording.h"
#include "target/maps.h"
#include "target/target.h"

/* What the VM maps: which functions do, and rows of the recording of it. */

#define GROUP "mapping"

#define OP(op, address, size, tag) JVS_MAPPING_COOKIE(JVS_MAPPING_##op, address, size, tag)

/*
 * The functions of class os that all others go through. JDK 17 has no tag for what it reserves at
 * an address, later ones do; 25 has it before the flag that code is executable.
 */
static const struct probe libjvm_probes[] = {
	{ "_ZN2os14reserve_memoryEmb@", PROBE_CALL, OP(RESERVE, 0, 1, 3) },
	{ "_ZN2os14reserve_memoryEm@b", PROBE_CALL, OP(RESERVE, 0, 1, 2) },
	{ "_ZN2os22reserve_memory_alignedEmmb", PROBE_CALL, OP(RESERVE, 0, 1, 0) },
	{ "_ZN2os22reserve_memory_alignedEmm@b", PROBE_CALL, OP(RESERVE, 0, 1, 3) },
	{ "_ZN2os25attempt_reserve_memory_atEPcmb", PROBE_CALL, OP(RESERVE, 0, 2, 0) },
	{ "_ZN2os25attempt_reserve_memory_atEPcm@b", PROBE_CALL, OP(RESERVE, 0, 2, 3) },
	{ "_ZN2os23reserve_memory_specialEmmmPcb", PROBE_CALL, OP(MAP, 0, 1, 0) },
	{ "_ZN2os10map_memoryEiPKcmPcmbb@", PROBE_CALL, OP(MAP, 0, 5, 0) },
	{ "_ZN2os10map_memoryEiPKcmPcm@bb", PROBE_CALL, OP(MAP, 0, 5, 0) },
	{ "_ZN2os13commit_memoryEPcmb", PROBE_CALL, OP(COMMIT, 1, 2, 0) },
	{ "_ZN2os13commit_memoryEPcmmb", PROBE_CALL, OP(COMMIT, 1, 2, 0) },
	{ "_ZN2os21commit_memory_or_exitEPcmbPKc", PROBE_CALL, OP(COMMIT_EXIT, 1, 2, 0) },
	{ "_ZN2os21commit_memory_or_exitEPcmmbPKc", PROBE_CALL, OP(COMMIT_EXIT, 1, 2, 0) },
	{ "_ZN2os15uncommit_memoryEPcmb", PROBE_ENTRY, OP(UNCOMMIT, 1, 2, 0) },
	{ "_ZN2os14release_memoryEPcm", PROBE_ENTRY, OP(RELEASE, 1, 2, 0) },
	{ "_ZN2os22release_memory_specialEPcm", PROBE_ENTRY, OP(RELEASE, 1, 2, 0) },
	{ "_ZN2os12unmap_memoryEPcm", PROBE_ENTRY, OP(RELEASE, 1, 2, 0) },
	{ "_ZN2os13create_threadEP6ThreadNS_10ThreadTypeEm", PROBE_CALL, OP(STACK, 1, 3, 0) },
	{ "_ZN6ThreadD2Ev", PROBE_ENTRY, OP(STACK_END, 1, 0, 0) },
};

/* The VM says there how large a stack is to be, between os::create_thread and its return. */
static const struct probe libc_probes[] = {
	{ "pthread_attr_setstacksize", PROBE_ENTRY, OP(STACK_SIZE, 0, 2, 0) },
};

static const struct {
	const char *name;
	const struct probe *probes;
	size_t count;
} files[MAPPING_SETS] = {
	{ "libjvm.so", libjvm_probes, sizeof(libjvm_probes) / sizeof(libjvm_probes[0]) },
	{ "libc.so.6", libc_probes, sizeof(libc_probes) / sizeof(libc_probes[0]) },
};

void native_attach_mappings(struct native *native, const struct process *p, const struct maps *all)
{
	struct native_target *t = &native->targets[p->index];
	struct mappings_target *m = &native->mappings.targets[p->index];

	for (int file = MAPPING_SETS - 1; file >= 0; file--) {
		struct probe_request request = { .object = native->object,
						 .group = GROUP,
						 .links = native->links,
						 .target = p->target,
						 .probes = files[file].probes,
						 .count = files[file].count };

		if (t->tried_mappings[file])
			continue;
		request.mapping = process_find_file(p, all, files[file].name, &request.image);
		if (!request.mapping)
			continue;
		t->tried_mappings[file] = true;
		/* Without symbols there are no allocations either, which was said. */
		if (!probes_find(&request, &m->sets[file]))
			probes_attach(&m->sets[file]);
	}
}

/* ---- rows */

static uint32_t tag_of(struct native_target *t, struct recording *rec,
		       const struct mapped_site *site)
{
	static const char stacks[] = "Thread Stack";

	if (site->use == REC_NATIVE_STACK)
		return rec_string(rec, stacks, sizeof(stacks) - 1);
	return native_tag(t, rec,
			  site->tag == JVS_MAPPING_NO_TAG ? JVS_NATIVE_TAG_NONE : site->tag);
}

static void add_counts(const struct native *native, const struct process *p, struct recording *rec)
{
	static const char *const names[JVS_MAPPING_COUNT_NR] = {
#define X(name, text) [JVS_MAPPING_COUNT_##name] = (text),
		JVS_MAPPING_COUNTER_LIST(X)
#undef X
	};
	int cpus = libbpf_num_possible_cpus();
	struct jvs_mapping_counts *each = cpus > 0 ? calloc((size_t)cpus, sizeof(*each)) : NULL;

	if (each && !bpf_map_lookup_elem(native->mapping_counts_fd, &p->index, each))
		for (int i = 0; i < JVS_MAPPING_COUNT_NR; i++) {
			uint64_t sum = 0;

			for (int cpu = 0; cpu < cpus; cpu++)
				sum += each[cpu].values[i];
			rec_native_count_set(rec, p->rec_jvm, names[i], sum);
		}
	free(each);
	rec_native_count_set(rec, p->rec_jvm, "mapping_ranges_full",
			     native->mappings.targets[p->index].dropped);
}

void mappings_tell(struct native *native, const struct process *p, struct recording *rec)
{
	static const struct rec_native_chain unknown;
	const struct table *sites = &native->mappings.targets[p->index].sites;

	for (uint32_t id = 1; id <= sites->count; id++) {
		const struct mapped_site *from = table_get(sites, id);
		const struct rec_native_chain *chain = calls_of(&native->calls, from->stack);
		struct rec_native_site site = { .jvm = p->rec_jvm,
						.stack = from->rec_stack,
						.use = (enum rec_native_use)from->use,
						.allocated_blocks = from->blocks,
						.allocated_bytes = from->bytes,
						.freed_blocks = from->freed_blocks,
						.freed_bytes = from->freed_bytes };

		if (!from->blocks)
			continue;
		site.tag = tag_of(&native->targets[p->index], rec, from);
		rec_native_site(rec, &site);
		rec_native_calls_add(rec, chain ? chain : &unknown, &site);
	}
	add_counts(native, p, rec);
}
