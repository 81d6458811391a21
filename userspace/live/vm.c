/* SPDX-License-Identifier: Apache-2.0 */
#include "live/vm.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "jvm/jvm.h"
#include "live/decode.h"
#include "live/live.h"
#include "live/process.h"
#include "live/vm_impl.h"
#include "live/vm_io.h"
#include "model/recording.h"
#include "target/image.h"
#include "target/target.h"
#include "target/usdt.h"

/* ---- places */

#define TICKS "RK11TimeInstantI30CompositeCounterRepresentation29CompositeElapsedCounterSourceE"

/* Names are the same on JDK 11 to 28. */
static const struct probe gc_probes[] = {
	{ "_ZN8GCIdMarkC1Ev", PROBE_CALL, JVS_VM_GC_NUMBER },
	{ "_ZN8GCTracer15report_gc_startEN7GCCause5CauseE" TICKS, PROBE_ONCE, JVS_VM_GC_START },
	{ "_ZNK8GCTracer22report_gc_heap_summaryEN6GCWhen4TypeERK13GCHeapSummary", PROBE_ENTRY,
	  JVS_VM_GC_HEAP },
	{ "_ZNK8GCTracer24report_metaspace_summaryEN6GCWhen4TypeERK16MetaspaceSummary", PROBE_ENTRY,
	  JVS_VM_GC_METASPACE },
	{ "_ZNK8GCTracer17send_phase_eventsEP14TimePartitions", PROBE_ENTRY, JVS_VM_GC_PHASES },
	{ "_ZNK8GCTracer29send_garbage_collection_eventEv", PROBE_ENTRY, JVS_VM_GC_END },
};

static const struct probe safepoint_probes[] = {
	{ "_ZN20SafepointSynchronize5beginEv", PROBE_CALL, JVS_VM_SAFEPOINT_BEGIN },
	{ "_ZN20SafepointSynchronize3endEv", PROBE_CALL, JVS_VM_SAFEPOINT_END },
	{ "_ZN20SafepointSynchronize5blockEP10JavaThread", PROBE_ENTRY, JVS_VM_SAFEPOINT_BLOCK },
	{ "_ZN8VMThread18evaluate_operationEP12VM_Operation", PROBE_ENTRY, JVS_VM_OP_EVALUATE },
	{ "vmops__begin", PROBE_USDT, JVS_VM_OP_BEGIN },
	{ "vmops__end", PROBE_USDT, JVS_VM_OP_END },
};

static const struct probe lock_probes[] = {
	{ "_ZN13ObjectMonitor5enterEP10JavaThread", PROBE_CALL, JVS_VM_LOCK_ENTER },
	{ "_ZN13ObjectMonitor5enterEP6Thread", PROBE_CALL, JVS_VM_LOCK_ENTER },
	{ "_ZN13ObjectMonitor5enterEP10JavaThreadb", PROBE_CALL, JVS_VM_LOCK_ENTER },
	{ "_ZN13ObjectMonitor26enter_with_contention_markEP10JavaThread"
	  "R27ObjectMonitorContentionMark",
	  PROBE_CALL, JVS_VM_LOCK_ENTER },
	{ "_ZN13ObjectMonitor26enter_with_contention_markEP10JavaThread"
	  "R27ObjectMonitorContentionMarkb",
	  PROBE_CALL, JVS_VM_LOCK_ENTER },
	{ "_ZN13ObjectMonitor4waitElbP10JavaThread", PROBE_CALL, JVS_VM_LOCK_WAIT },
	{ "_ZN13ObjectMonitor4waitElbP6Thread", PROBE_CALL, JVS_VM_LOCK_WAIT },
	{ "_ZN6Parker4parkEbl", PROBE_CALL, JVS_VM_LOCK_PARK },
	{ "_ZN13ObjectMonitor10ExitEpilogEP6ThreadP12ObjectWaiter", PROBE_ENTRY,
	  JVS_VM_LOCK_HANDS },
	{ "_ZN13ObjectMonitor10ExitEpilogEP10JavaThreadP12ObjectWaiter", PROBE_ENTRY,
	  JVS_VM_LOCK_HANDS },
	{ "_ZN13ObjectMonitor11exit_epilogEP10JavaThreadP12ObjectWaiter", PROBE_ENTRY,
	  JVS_VM_LOCK_HANDS },
	{ "_ZN13ObjectMonitor7INotifyEP6Thread", PROBE_ENTRY, JVS_VM_LOCK_NOTIFY },
	{ "_ZN13ObjectMonitor7INotifyEP10JavaThread", PROBE_ENTRY, JVS_VM_LOCK_NOTIFY },
	{ "_ZN13ObjectMonitor15notify_internalEP10JavaThread", PROBE_ENTRY, JVS_VM_LOCK_NOTIFY },
};

static const struct probe thread_probes[] = {
	{ "_ZN6Thread5startEPS_", PROBE_ENTRY, JVS_VM_THREAD_STARTS },
	{ "_ZN10JavaThread3runEv", PROBE_ENTRY, JVS_VM_THREAD_RUNS },
	{ "_ZN10JavaThread4exitEbNS_8ExitTypeE", PROBE_ENTRY, JVS_VM_THREAD_EXITS },
};

static const struct probe jit_probes[] = {
	{ "_ZN13CompileBroker25invoke_compiler_on_methodEP11CompileTask", PROBE_CALL,
	  JVS_VM_COMPILE },
	{ "_ZN14Deoptimization19uncommon_trap_innerEP10JavaThreadi", PROBE_ENTRY, JVS_VM_TRAP },
};

static const struct probe exception_probes[] = {
	{ "JVM_FillInStackTrace", PROBE_ENTRY, JVS_VM_EXCEPTION_FILL },
};

/* The first name of each place is that of JDK 11. */
static const struct probe alloc_probes[] = {
	{ "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassP8HeapWordmmP6Thread", PROBE_ENTRY,
	  JVS_VM_ALLOC_TLAB },
	{ "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP10JavaThread",
	  PROBE_ENTRY, JVS_VM_ALLOC_TLAB },
	{ "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassP8HeapWordmP6Thread", PROBE_ENTRY,
	  JVS_VM_ALLOC_OUTSIDE },
	{ "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP10JavaThread",
	  PROBE_ENTRY, JVS_VM_ALLOC_OUTSIDE },
	{ "_ZN10JavaThread4exitEbNS_8ExitTypeE", PROBE_ENTRY, JVS_VM_ALLOC_END },
};

#define PROBES(table) (table), sizeof(table) / sizeof((table)[0])

static const struct {
	const char *name;
	unsigned int event; /* enum live_event */
	const char *what;   /* is not known without */
	const struct probe *probes;
	size_t count;
} groups[JVS_VM_GROUP_NR] = {
	[JVS_VM_GC] = { "gc", LIVE_EVENT_GC, "collections", PROBES(gc_probes) },
	[JVS_VM_SAFEPOINT] = { "safepoint", LIVE_EVENT_SAFEPOINT, "safepoints",
			       PROBES(safepoint_probes) },
	[JVS_VM_LOCK] = { "lock", LIVE_EVENT_LOCK, "waits for locks", PROBES(lock_probes) },
	[JVS_VM_THREAD] = { "thread", LIVE_EVENT_THREAD, "starts of threads",
			    PROBES(thread_probes) },
	[JVS_VM_JIT] = { "jit", LIVE_EVENT_JIT, "compilations", PROBES(jit_probes) },
	[JVS_VM_EXCEPTION] = { "exception", LIVE_EVENT_EXCEPTION, "exceptions",
			       PROBES(exception_probes) },
	[JVS_VM_ALLOC] = { "alloc", LIVE_EVENT_ALLOC, "allocation", PROBES(alloc_probes) },
	[JVS_VM_IO] = { "io", LIVE_EVENT_IO, "reads and writes", NULL, 0 }, /* see vm_io.c */
};

/* What is not known where a libjvm does not have a place. */
static const char *const lost[JVS_VM_SITE(GROUP_NR, 0)] = {
	[JVS_VM_GC_NUMBER] = "which of two collections began first",
	[JVS_VM_GC_START] = "numbers of collections",
	[JVS_VM_GC_HEAP] = "sizes of the heap",
	[JVS_VM_GC_METASPACE] = "sizes of metaspace",
	[JVS_VM_GC_PHASES] = "phases and pauses",
	[JVS_VM_GC_END] = "collections",
	[JVS_VM_SAFEPOINT_BEGIN] = "safepoints",
	[JVS_VM_SAFEPOINT_END] = "ends of safepoints",
	[JVS_VM_SAFEPOINT_BLOCK] = "threads that are slow to stop",
	[JVS_VM_OP_EVALUATE] = "who asks for VM operations",
	[JVS_VM_OP_BEGIN] = "VM operations",
	[JVS_VM_OP_END] = "ends of VM operations",
	[JVS_VM_LOCK_ENTER] = "waits for monitors",
	[JVS_VM_LOCK_WAIT] = "Object.wait()",
	[JVS_VM_LOCK_PARK] = "LockSupport.park()",
	[JVS_VM_LOCK_HANDS] = "who had a monitor before",
	[JVS_VM_LOCK_NOTIFY] = "who notifies",
	[JVS_VM_THREAD_STARTS] = "who starts a thread",
	[JVS_VM_THREAD_RUNS] = "starts of threads",
	[JVS_VM_THREAD_EXITS] = "ends of threads",
	[JVS_VM_COMPILE] = "compilations",
	[JVS_VM_TRAP] = "deoptimizations",
	[JVS_VM_EXCEPTION_FILL] = "exceptions",
	[JVS_VM_ALLOC_TLAB] = "objects in TLABs",
	[JVS_VM_ALLOC_OUTSIDE] = "objects outside of TLABs",
	[JVS_VM_ALLOC_END] = "the last TLABs of threads that end",
};

/* A probe of USDT that is looked for. */
struct sought {
	const char *name;
	bool found;
};

static int seek(const struct usdt_place *place, void *ctx)
{
	struct sought *sought = ctx;

	if (!strcmp(place->provider, "hotspot") && !strcmp(place->name, sought->name))
		sought->found = true;
	return 0;
}

static bool has_probe(struct image *image, const struct probe *probe)
{
	struct sought sought = { .name = probe->symbol };
	uint64_t vaddr;

	if (probe->where == PROBE_USDT)
		return usdt_each(image, seek, &sought) >= 0 && sought.found;
	return !image_symbol(image, probe->symbol, false, &vaddr);
}

void vm_places(struct image *image, struct vm_places out[JVS_VM_GROUP_NR])
{
	for (int group = 0; group < JVS_VM_GROUP_NR; group++) {
		const struct probe *probes = groups[group].probes;
		struct vm_places *to = &out[group];
		bool found[1 << JVS_VM_SITE_BITS] = { false };
		const char *names[1 << JVS_VM_SITE_BITS] = { NULL };

		*to = (struct vm_places){ .event = groups[group].name, .what = groups[group].what };
		for (size_t i = 0; i < groups[group].count; i++) {
			uint32_t place = probes[i].id & ((1 << JVS_VM_SITE_BITS) - 1);

			names[place] = probes[i].symbol;
			found[place] |= has_probe(image, &probes[i]);
		}
		for (uint32_t i = 0; i < 1 << JVS_VM_SITE_BITS; i++) {
			to->count += names[i] != NULL;
			if (!names[i] || found[i])
				continue;
			to->names[to->missing] = names[i];
			to->lost[to->missing++] = lost[(uint32_t)group << JVS_VM_SITE_BITS | i];
		}
	}
}

/* ---- loading */

static const char *const own_maps[] = {
	"jvs_vm_counts",       "jvs_vm_layouts",    "jvs_vm_threads",	"jvs_lock_controls",
	"jvs_vm_stopping",     "jvs_lock_sums",	    "jvs_lock_threads", "jvs_runtime_controls",
	"jvs_runtime_threads", "jvs_heap_controls", "jvs_heap_classes", "jvs_heap_threads",
	"jvs_io_controls",     "jvs_io_sums",	    "jvs_io_threads",	"jvs_lock_bys",
};

int vm_choose(struct bpf_object *object, unsigned int events)
{
	bool wanted = events & LIVE_EVENT_VM;
	int err = probes_choose(object, VM_GROUP, wanted ? probes_best() : PROBE_SINGLE, wanted);

	for (size_t i = 0; i < sizeof(own_maps) / sizeof(own_maps[0]) && !err; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, own_maps[i]);

		err = map ? bpf_map__set_autocreate(map, wanted) : -ENOENT;
	}
	return err;
}

int vm_open(struct bpf_object *object, unsigned int events, double max_overhead, struct vm **out)
{
	struct vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return -ENOMEM;
	vm->object = object;
	vm->links = probes_best();
	vm->max_overhead = max_overhead;
	vm->counts_fd = bpf_object__find_map_fd_by_name(object, "jvs_vm_counts");
	vm->layouts_fd = bpf_object__find_map_fd_by_name(object, "jvs_vm_layouts");
	vm->locks_fd = bpf_object__find_map_fd_by_name(object, "jvs_lock_controls");
	vm->lock_sums_fd = bpf_object__find_map_fd_by_name(object, "jvs_lock_sums");
	vm->runtime_fd = bpf_object__find_map_fd_by_name(object, "jvs_runtime_controls");
	vm->heap_controls_fd = bpf_object__find_map_fd_by_name(object, "jvs_heap_controls");
	vm->heap_classes_fd = bpf_object__find_map_fd_by_name(object, "jvs_heap_classes");
	vm->io_fd = bpf_object__find_map_fd_by_name(object, "jvs_io_controls");
	vm->io_sums_fd = bpf_object__find_map_fd_by_name(object, "jvs_io_sums");
	vm->trap_ns = probes_trap_ns(object, VM_GROUP, vm->links);
	for (int group = 0; group < JVS_VM_GROUP_NR; group++)
		vm->groups |= groups[group].event & events ? 1u << group : 0;
	*out = vm;
	return 0;
}

size_t vm_sets(struct vm_target *t, int group, struct probe_set **sets)
{
	if (group == JVS_VM_IO) {
		*sets = t->io ? t->io->sets : NULL;
		return t->io ? VM_IO_LIBRARIES : 0;
	}
	*sets = &t->sets[group];
	return 1;
}

static void give_up_group(struct vm_target *t, int group, struct probes_leaving *leaving)
{
	struct probe_set *sets;
	size_t count = vm_sets(t, group, &sets);

	for (size_t i = 0; i < count; i++)
		probes_leave(&sets[i], leaving);
}

void vm_give_up(struct vm *vm, struct probes_leaving *leaving)
{
	for (uint32_t i = 0; i < JVS_MAX_TARGETS; i++)
		for (int group = 0; group < JVS_VM_GROUP_NR; group++)
			give_up_group(&vm->targets[i], group, leaving);
}

void vm_close(struct vm *vm)
{
	if (!vm)
		return;
	for (uint32_t i = 0; i < JVS_MAX_TARGETS; i++) {
		for (int group = 0; group < JVS_VM_GROUP_NR; group++)
			probes_free(&vm->targets[i].sets[group]);
		klasses_free(&vm->targets[i].klasses);
		table_free(&vm->targets[i].lock_sums);
		vm_heap_close(&vm->targets[i]);
		vm_io_free(vm->targets[i].io);
	}
	free(vm);
}

/* ---- targets */

/* A variable of libjvm in the target's memory; 0: it has none of that name. */
static uint64_t variable(struct image *image, uint64_t bias, const char *symbol)
{
	uint64_t vaddr;

	return image_symbol(image, symbol, false, &vaddr) ? 0 : vaddr + bias;
}

static void show_layout(struct vm *vm, const struct process *p, struct image *image,
			const struct mapping *mapping)
{
	struct vm_target *t = &vm->targets[p->index];
	uint64_t bias = image_bias(image, mapping);
	uint32_t epoch = t->layout.epoch;
	int major = p->jvm ? jvm_major(p->jvm) : 0;

	t->layout = (struct jvs_vm_layout){
		.next_gc_id = variable(image, bias, "_ZN4GCId8_next_idE"),
		.safepoint_id = variable(image, bias, "_ZN20SafepointSynchronize13_safepoint_idE"),
		.safepoint_reached = variable(
			image, bias, "_ZN16SafepointTracing28_last_safepoint_sync_time_nsE"),
		.safepoint_threads = variable(image, bias, "_ZN16SafepointTracing12_nof_threadsE"),
		.safepoint_critical = variable(
			image, bias, "_ZN20SafepointSynchronize25_current_jni_active_countE"),
		.phases = 0,
		/* Up to JDK 15 an array knows its arena, in front of them. */
		.phases_data = major && major < 16 ? 24 : 8,
		.phase_size = 56,
		.phase_level = 8,
		.phase_start = 16,
		.phase_end = 32,
		.phase_type = 48,
		.op_caller = 8,
		.straggler_ns = VM_STRAGGLER_NS,
		.epoch = epoch + 1,
	};
	/* JDK 11 has a counter of 32 bits for that. */
	t->layout.safepoint_id_size = t->layout.safepoint_id ? 8 : 4;
	if (!t->layout.safepoint_id)
		t->layout.safepoint_id =
			variable(image, bias, "_ZN20SafepointSynchronize18_safepoint_counterE");
	bpf_map_update_elem(vm->layouts_fd, &p->index, &t->layout, BPF_ANY);
	t->clock_address = variable(image, bias, "_ZL18initial_time_count");
	vm_find_trap_names(t, image, bias);
	vm_find_monitor_object(t, image);
}

/* Whether a place was found, by whichever of its names. */
static bool is_found(int group, const struct probe_set *set, uint32_t place)
{
	for (size_t i = 0; i < groups[group].count; i++)
		if (set->found & 1ull << i && groups[group].probes[i].id == place)
			return true;
	return false;
}

/* A place by the last of its names, which is that of newer JDKs. */
static const char *name_of(int group, uint32_t place)
{
	const char *name = NULL;

	for (size_t i = 0; i < groups[group].count; i++)
		if (groups[group].probes[i].id == place)
			name = groups[group].probes[i].symbol;
	return name;
}

/* What of a group the libjvm does not have, in one line. */
static void say_missing(const struct process *p, int group, const struct probe_set *set)
{
	for (size_t i = 0; i < groups[group].count; i++) {
		uint32_t place = groups[group].probes[i].id;

		if (is_found(group, set, place))
			continue;
		log_info("pid %d: its libjvm has no %s: not all of %s is known", p->target->pid,
			 name_of(group, place), groups[group].what);
		return;
	}
}

static void attach_group(struct vm *vm, const struct process *p, int group,
			 struct probe_request *request)
{
	struct probe_set *set = &vm->targets[p->index].sets[group];
	int err;

	request->probes = groups[group].probes;
	request->count = groups[group].count;
	err = probes_find(request, set);
	if (!err) {
		say_missing(p, group, set);
		err = group == JVS_VM_ALLOC ? vm_heap_open(vm, &vm->targets[p->index], p) : 0;
	}
	if (!err)
		err = probes_attach(set);
	if (!err)
		vm_begin_budget(vm, p, (enum jvs_vm_group)group);
	else if (err == -ENOENT)
		log_warn("pid %d: its libjvm has no symbols: no %s", p->target->pid,
			 groups[group].what);
	else
		log_warn("pid %d: no %s: %s", p->target->pid, groups[group].what, strerror(-err));
}

void vm_attach(struct vm *vm, const struct process *p, const struct maps *maps, struct image *image,
	       const struct mapping *mapping)
{
	struct vm_target *t = &vm->targets[p->index];
	struct probe_request request = { .object = vm->object,
					 .group = VM_GROUP,
					 .links = vm->links,
					 .target = p->target,
					 .image = image,
					 .mapping = mapping };

	if (t->tried)
		return;
	t->tried = true;
	show_layout(vm, p, image, mapping);
	vm_show_locks(vm, p);
	for (int group = 0; group < JVS_VM_GROUP_NR; group++)
		if (vm->groups & 1u << group && groups[group].probes)
			attach_group(vm, p, group, &request);
	if (vm->groups & 1u << JVS_VM_IO)
		vm_io_attach(vm, p, maps, mapping->path);
}

bool vm_attached(const struct vm *vm, const struct process *p)
{
	return vm->targets[p->index].tried;
}

void vm_forget(struct vm *vm, const struct process *p)
{
	struct vm_target *t = &vm->targets[p->index];
	uint32_t epoch = t->layout.epoch;

	for (int group = 0; group < JVS_VM_GROUP_NR; group++)
		probes_free(&t->sets[group]);
	klasses_free(&t->klasses);
	table_free(&t->lock_sums);
	vm_drop_locks(vm, p->index);
	vm_heap_forget(vm, p);
	vm_io_free(t->io);
	vm_drop_io(vm, p->index);
	*t = (struct vm_target){ .layout = { .epoch = epoch } };
	vm_counts(vm, p->index, &t->before);
}

/* ---- the recording */

static int64_t epoch_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void vm_tick(struct vm *vm, const struct decoder *d, struct process *p, struct recording *rec)
{
	vm_show_objects(vm, p);
	vm_find_safepoint_states(vm, p);
	vm_io_show(vm, p);
	vm_keep_budgets(vm, d, p, rec);
	vm_heap_tick(vm, p, rec);
}

static void tell_losses(const struct vm *vm, const struct process *p, struct recording *rec)
{
	static const struct {
		int group;
		const char *name;
	} losses[VM_LOSS_NR] = {
#define X(name, group, text) [VM_LOSS_##name] = { JVS_VM_##group, (text) },
		VM_LOSS_LIST(X)
#undef X
	};

	for (int i = 0; i < VM_LOSS_NR; i++)
		if (vm->groups & 1u << losses[i].group)
			rec_vm_count_set(rec, p->rec_jvm, losses[i].name,
					 vm->targets[p->index].losses[i]);
}

void vm_finish(struct vm *vm, struct decoder *d, const struct process *p, struct recording *rec)
{
	static const char *const names[JVS_VM_COUNT_NR] = {
#define X(name, text, loss) [JVS_VM_COUNT_##name] = (text),
		JVS_VM_COUNTER_LIST(X)
#undef X
	};
	const struct vm_target *t = &vm->targets[p->index];
	struct jvs_vm_counts counts;
	char name[64];

	if (!p->rec_jvm || !t->tried)
		return;
	vm_counts(vm, p->index, &counts);
	for (int group = 0; group < JVS_VM_GROUP_NR; group++) {
		if (!(vm->groups & 1u << group))
			continue;
		for (int i = 0; i < JVS_VM_COUNT_NR; i++) {
			snprintf(name, sizeof(name), "%s_%s", groups[group].name, names[i]);
			rec_vm_count_set(rec, p->rec_jvm, name,
					 counts.values[group][i] - t->before.values[group][i]);
		}
	}
	vm_tell_locks(vm, p, rec);
	vm_tell_io(vm, d, p, rec);
	vm_tell_budgets(vm, d, p, rec);
	vm_heap_finish(vm, p, rec, vm->goes_on ? 0 : epoch_now());
	tell_losses(vm, p, rec);
}

void vm_status(const struct vm *vm, struct live_status *status)
{
	status->gc_known = vm->groups & 1u << JVS_VM_GC;
	status->collections = vm->collections;
	status->paused_ns = vm->paused_ns;
}
