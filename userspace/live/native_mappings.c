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

enum { LIBJVM, LIBC };

static const struct {
	const char *name;
	const struct probe *probes;
	size_t count;
} files[MAPPING_SETS] = {
	[LIBJVM] = { "libjvm.so", libjvm_probes, sizeof(libjvm_probes) / sizeof(libjvm_probes[0]) },
	[LIBC] = { "libc.so.6", libc_probes, sizeof(libc_probes) / sizeof(libc_probes[0]) },
};

/* ---- the budget */

static void read_counts(const struct native *native, uint32_t target,
			struct jvs_mapping_counts *out)
{
	int cpus = libbpf_num_possible_cpus();
	struct jvs_mapping_counts *each = cpus > 0 ? calloc((size_t)cpus, sizeof(*each)) : NULL;

	*out = (struct jvs_mapping_counts){ 0 };
	if (each && !bpf_map_lookup_elem(native->mapping_counts_fd, &target, each))
		for (int cpu = 0; cpu < cpus; cpu++)
			for (int i = 0; i < JVS_MAPPING_COUNT_NR; i++)
				out->values[i] += each[cpu].values[i];
	free(each);
}

static void measure(const struct native *native, const struct process *p,
		    struct governor_input *out)
{
	struct jvs_mapping_counts counts;
	double traps;

	read_counts(native, p->index, &counts);
	traps = (double)counts.values[JVS_MAPPING_COUNT_CALLS] +
		BUDGET_RETURN_SHARE * (double)counts.values[JVS_MAPPING_COUNT_RETURNS];
	*out = (struct governor_input){
		.cost_ns = (uint64_t)(traps * native->trap_ns) +
			   counts.values[JVS_MAPPING_COUNT_RUN_NS],
		.hits = counts.values[JVS_MAPPING_COUNT_CALLS],
		.trap_ns = native->trap_ns,
	};
}

static void set_control(const struct native *native, const struct process *p,
			struct mappings_target *m)
{
	m->control.no_stacks = m->budget.governor.state != REC_NATIVE_EXACT;
	bpf_map_update_elem(native->mapping_controls_fd, &p->index, &m->control, BPF_ANY);
}

static void begin_budget(struct native *native, const struct process *p)
{
	struct mappings_target *m = &native->mappings.targets[p->index];
	struct governor_input input;

	measure(native, p, &input);
	budget_begin(&m->budget, native->max_overhead, p, &input);
	set_control(native, p, m);
}

static void change_state(struct mappings_target *m, const struct decoder *d,
			 const struct process *p, struct recording *rec)
{
	const struct rec_budget_event event = { .group = REC_PROBES_MAPPING,
						.to = m->budget.governor.state,
						.reason = m->budget.governor.reason };

	log_info("pid %d: what the VM maps is %s now, it was %s (probes cost %.2f %% of a core)",
		 p->target->pid, rec_native_state_name(event.to),
		 rec_native_state_name(m->budget.state), governor_cost_pct(&m->budget.governor));
	budget_change(&m->budget, d, p, rec, &event);
}

/*
 * In all states but exact there are no stacks. Ranges whose begin or end was not seen are wrong
 * from then on: what is mapped is withheld once the probes were off.
 */
void native_keep_mappings(struct native *native, const struct decoder *d, struct process *p,
			  struct recording *rec)
{
	struct mappings_target *m = &native->mappings.targets[p->index];
	bool was_attached = m->budget.governor.attached;
	struct governor_input input;

	if (!m->budget.begun)
		return;
	native_know_areas(native, p, false);
	measure(native, p, &input);
	p->mapping_cost_ns = budget_look(&m->budget, p, &input, p->class_cost_ns + p->vm_cost_ns);
	if (m->budget.governor.state == m->budget.state &&
	    m->budget.governor.attached == was_attached)
		return;
	if (m->budget.governor.state != m->budget.state)
		change_state(m, d, p, rec);
	m->control.epoch += m->budget.governor.attached != was_attached;
	set_control(native, p, m);
	for (int set = 0; set < MAPPING_SETS; set++)
		probes_want(&m->sets[set], m->budget.governor.attached);
}

void native_forget_mappings(struct native *native, uint32_t target)
{
	struct mappings_target *m = &native->mappings.targets[target];
	uint32_t epoch = m->control.epoch;

	mappings_forget(&native->mappings, target);
	read_counts(native, target, &m->before);
	m->control.epoch = epoch + 1;
}

/* ---- attaching */

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
		if (!probes_find(&request, &m->sets[file]) &&
		    (!m->budget.begun || m->budget.governor.attached))
			probes_attach(&m->sets[file]);
	}
	if (!m->budget.begun && m->sets[LIBJVM].attached)
		begin_budget(native, p);
	native_know_areas(native, p, false);
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
	const struct mappings_target *m = &native->mappings.targets[p->index];
	struct jvs_mapping_counts counts;

	read_counts(native, p->index, &counts);
	for (int i = 0; i < JVS_MAPPING_COUNT_NR; i++)
		rec_native_count_set(rec, p->rec_jvm, names[i],
				     counts.values[i] - m->before.values[i]);
	rec_native_count_set(rec, p->rec_jvm, "mapping_ranges_full", m->dropped);
}

/* What lives of a site, as a total: nothing where it is withheld. */
static void tell_total(struct mapped_site *from, const struct rec_native_site *site, bool known,
		       struct recording *rec)
{
	static const enum rec_metric metrics[REC_NATIVE_USE_NR] = {
		[REC_NATIVE_RESERVED] = REC_VM_RESERVED,
		[REC_NATIVE_COMMITTED] = REC_VM_COMMITTED,
		[REC_NATIVE_STACK] = REC_THREAD_STACKS,
	};
	struct rec_key key = { .metric = metrics[site->use],
			       .jvm = site->jvm,
			       .stack = site->stack,
			       .label = site->tag };
	int64_t blocks = known ? rec_native_live_blocks(site) : 0;
	int64_t bytes = known ? rec_native_live_bytes(site) : 0;

	if (blocks != from->told_blocks || bytes != from->told_bytes)
		rec_add(rec, &key, blocks - from->told_blocks, bytes - from->told_bytes);
	from->told_blocks = blocks;
	from->told_bytes = bytes;
}

void mappings_tell(struct native *native, const struct decoder *d, const struct process *p,
		   struct recording *rec)
{
	static const struct rec_native_chain unknown;
	struct mappings_target *m = &native->mappings.targets[p->index];

	if (m->budget.begun)
		native_know_areas(native, p, true);
	for (uint32_t id = 1; id <= m->sites.count; id++) {
		struct mapped_site *from = table_get(&m->sites, id);
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
		tell_total(from, &site, !m->budget.unwatched, rec);
		rec_native_site(rec, &site);
		rec_native_calls_add(rec, chain ? chain : &unknown, &site);
	}
	add_counts(native, p, rec);
	budget_tell(&m->budget, REC_PROBES_MAPPING, d, p, rec);
}
