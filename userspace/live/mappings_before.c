/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jvm/jvm.h"
#include "jvm/memory.h"
#include "live/mappings.h"
#include "live/native.h"
#include "live/native_impl.h"
#include "live/process.h"
#include "target/maps.h"
#include "target/target.h"

/*
 * What the VM has reserved, by its own tables: so that what was reserved before it was probed, or
 * without a tag, has the tag that NMT gives it.
 */

#define NAMES_MAX 2
#define LOOKS_MAX 5		/* while it runs; one more at the end */
#define LOOK_NS	  1000000000ull /* between two of them */

/* As the JVM spells them; that of metaspace is new in 16. NULL: which is not known. */
static const char *const tag_names[][NAMES_MAX] = {
	[VM_JAVA_HEAP] = { "Java Heap" }, [VM_CDS] = { "Shared class space", "Shared Class Space" },
	[VM_CODE] = { "Code" },		  [VM_METASPACE] = { "Metaspace", "Class" },
	[VM_CLASS_SPACE] = { "Class" },	  [VM_GC] = { "GC" },
	[VM_PERF_DATA] = { "Internal" },  [VM_OTHER] = { NULL },
};

struct filling {
	const struct native_target *t;
	struct mappings_target *m;
};

static uint32_t tag_of(const struct native_target *t, enum vm_use use)
{
	for (int name = 0; name < NAMES_MAX && tag_names[use][name]; name++)
		for (uint32_t tag = 0; tag < t->tag_count; tag++)
			if (!strcmp(t->tags[tag].name, tag_names[use][name]))
				return tag;
	return JVS_MAPPING_NO_TAG;
}

/* Where two overlap the first is right: the others fill what is left. */
static void fill_area(const struct vm_area *area, void *ctx)
{
	const struct filling *filling = ctx;
	const struct mapped range = { .start = area->start,
				      .end = area->end,
				      .tag = tag_of(filling->t, area->use) };

	if (range.tag != JVS_MAPPING_NO_TAG)
		mapped_fill(&filling->m->areas, &range);
}

static void fill(struct filling *filling, const struct process *p, const struct maps *maps)
{
	const struct vm_kind kind = { .major = jvm_major(p->jvm), .gc_name = jvm_gc_name(p->jvm) };
	struct vm_memory *memory;

	if (vm_memory_open(p->target, maps, &kind, &memory))
		return;
	vm_memory_areas(memory, maps, fill_area, filling);
	vm_memory_close(memory);
	mappings_retag(filling->m);
}

void native_know_areas(struct native *native, const struct process *p, bool now)
{
	struct mappings_target *m = &native->mappings.targets[p->index];
	struct filling filling = { .t = &native->targets[p->index], .m = m };
	struct maps maps;

	if (!p->jvm || !filling.t->tag_count)
		return;
	if (!now && (m->areas_looks == LOOKS_MAX ||
		     (m->areas_looks && native->now_ns - m->areas_ns < LOOK_NS)))
		return;
	m->areas_looks += m->areas_looks < LOOKS_MAX;
	m->areas_ns = native->now_ns;
	if (maps_read(p->target->pid, &maps))
		return;
	fill(&filling, p, &maps);
	maps_free(&maps);
}
