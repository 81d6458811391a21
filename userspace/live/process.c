/* SPDX-License-Identifier: Apache-2.0 */
#include "live/process.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "jvm/jvm.h"
#include "target/image.h"
#include "target/target.h"

/* Executable mappings of one process; a JVM with many libraries has 200. */
#define PROCESS_MAPPINGS_MAX 2048

/* ---- mappings */

static void mappings_free(struct process_mappings *m, struct images *images, struct tables *tables)
{
	for (size_t i = 0; i < m->count; i++)
		images_put(images, tables, m->items[i].loaded);
	free(m->items);
	space_give(&tables->mapping_space, m->extent);
	*m = (struct process_mappings){ 0 };
}

/* Code of the code heap is found by its segment map, the vsyscall page has no unwind rows. */
static bool is_native_code(const struct process *p, const struct mapping *mapping)
{
	if (!mapping->executable || strcmp(mapping->path, "[vsyscall]") == 0)
		return false;
	return !p->jvm || !jvm_in_code_heap(p->jvm, mapping->start);
}

static bool same(const struct process_mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->inode == b->inode;
}

/* Ids are kept while a mapping stays, so that known stacks keep their hash. */
static uint32_t id_of(const struct process *p, struct tables *tables, const struct mapping *mapping)
{
	const struct process_mapping *old = process_mapping_at(p, mapping->start);

	return old && same(old, mapping) ? old->id : tables->next_mapping_id++;
}

static bool unchanged(const struct process *p, const struct maps *maps)
{
	size_t at = 0;

	for (size_t i = 0; i < maps->count; i++) {
		if (!is_native_code(p, &maps->items[i]))
			continue;
		if (at == PROCESS_MAPPINGS_MAX)
			return true;
		if (at == p->current.count || !same(&p->current.items[at], &maps->items[i]))
			return false;
		at++;
	}
	return at == p->current.count;
}

/* Once: it is tried again at each change. */
static void say_full(struct process *p, size_t count)
{
	if (!p->mappings_full)
		log_warn("pid %d: %zu executable mappings are too many: no names in the rest",
			 p->target->pid, count);
	p->mappings_full = true;
}

static int collect(struct process *p, struct images *images, struct tables *tables,
		   const struct maps *maps, struct process_mappings *out)
{
	struct process_mappings m = { 0 };

	m.items = calloc(maps->count ? maps->count : 1, sizeof(*m.items));
	if (!m.items)
		return -ENOMEM;
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *from = &maps->items[i];
		struct process_mapping *to = &m.items[m.count];

		if (!is_native_code(p, from))
			continue;
		if (m.count == PROCESS_MAPPINGS_MAX) {
			say_full(p, m.count);
			break;
		}
		*to = (struct process_mapping){ .start = from->start,
						.end = from->end,
						.offset = from->offset,
						.inode = from->inode,
						.id = id_of(p, tables, from) };
		to->loaded = images_get(images, tables, p->target, from);
		if (to->loaded && to->loaded->image)
			to->bias = image_bias(to->loaded->image, from);
		m.count++;
	}
	*out = m;
	return 0;
}

static int install(struct process *p, struct tables *tables, struct process_mappings *m)
{
	struct jvs_mapping *rows = calloc(m->count ? m->count : 1, sizeof(*rows));
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		const struct process_mapping *from = &m->items[i];

		rows[i] = (struct jvs_mapping){
			.start = from->start, .end = from->end, .bias = from->bias, .id = from->id
		};
		if (!from->loaded)
			continue;
		rows[i].row_first = from->loaded->table.rows.first;
		rows[i].row_count = from->loaded->table.rows.count;
		rows[i].index_first = from->loaded->table.index.first;
		rows[i].index_count = from->loaded->table.index.count;
	}
	err = tables_set_mappings(tables, p->index, rows, (uint32_t)m->count, &m->extent);
	if (err)
		say_full(p, m->count);
	free(rows);
	return err;
}

int process_refresh_mappings(struct process *p, struct images *images, struct tables *tables)
{
	struct process_mappings fresh;
	struct maps maps;
	int err;

	err = maps_read(p->target->pid, &maps);
	if (err)
		return err;
	p->libjvm_mapped = maps_find_file(&maps, "libjvm.so") != NULL;
	if (p->current.items && unchanged(p, &maps))
		goto out;

	err = collect(p, images, tables, &maps, &fresh);
	if (err)
		goto out;
	err = install(p, tables, &fresh);
	if (err) {
		mappings_free(&fresh, images, tables);
		goto out;
	}
	mappings_free(&p->previous, images, tables);
	p->previous = p->current;
	p->current = fresh;
out:
	maps_free(&maps);
	return err;
}

const struct process_mapping *process_mapping_by_id(const struct process *p, uint32_t id)
{
	const struct process_mappings *sets[] = { &p->current, &p->previous };

	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < sets[s]->count; i++)
			if (sets[s]->items[i].id == id)
				return &sets[s]->items[i];
	return NULL;
}

const struct process_mapping *process_mapping_at(const struct process *p, uint64_t addr)
{
	size_t lo = 0, hi = p->current.items ? p->current.count : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->current.items[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || addr >= p->current.items[lo - 1].end)
		return NULL;
	return &p->current.items[lo - 1];
}

const struct mapping *process_find_file(const struct process *p, const struct maps *maps,
					const char *name, struct image **image)
{
	const struct process_mapping *known;
	const char *slash;

	for (size_t i = 0; i < maps->count; i++) {
		slash = strrchr(maps->items[i].path, '/');
		if (!maps->items[i].executable || !slash || strcmp(slash + 1, name) != 0)
			continue;
		known = process_mapping_at(p, maps->items[i].start);
		if (!known || !known->loaded || !known->loaded->image)
			return NULL;
		*image = known->loaded->image;
		return &maps->items[i];
	}
	return NULL;
}

/* ---- life */

int process_open(struct process *p, struct images *images, struct tables *tables, pid_t pid,
		 uint32_t index)
{
	struct jvs_target *row = &tables->targets[index];
	uint32_t tgid = (uint32_t)pid;
	int err;

	*p = (struct process){ .index = index };
	err = target_open(pid, &p->target);
	if (err)
		return err;
	/* What is remembered of another process that was here is not of this one. */
	*row = (struct jvs_target){ .pid = tgid, .generation = row->generation + 1 };
	err = process_refresh_mappings(p, images, tables);
	if (err) {
		log_error("pid %d: mappings cannot be read: %s", pid, strerror(-err));
		goto out;
	}
	if (bpf_map_update_elem(tables->pids_fd, &tgid, &index, BPF_ANY)) {
		err = -errno;
		log_error("pid %d: cannot be made a target: %s", pid, strerror(errno));
	}
out:
	if (err)
		process_close(p, images, tables);
	return err;
}

static void show_layout(struct process *p, struct tables *tables)
{
	struct jvs_target *row = &tables->targets[p->index];

	row->java = *jvm_layout(p->jvm);
	tables_new_generation(tables, p->index);
	__atomic_or_fetch(&row->flags, JVS_TARGET_JAVA | JVS_TARGET_ANCHOR, __ATOMIC_RELEASE);
}

int process_find_jvm(struct process *p, struct tables *tables)
{
	struct maps maps;
	int err;

	if (p->jvm) {
		if (p->state == PROCESS_JAVA && jvm_refresh(p->jvm))
			show_layout(p, tables);
		return 0;
	}
	err = maps_read(p->target->pid, &maps);
	if (err)
		return err;
	err = jvm_open(p->target, &maps, &p->jvm);
	maps_free(&maps);
	if (!err) {
		show_layout(p, tables);
		p->state = PROCESS_JAVA;
		return 0;
	}
	if (err != -EAGAIN && err != -ENOENT)
		p->state = PROCESS_NATIVE;
	return err;
}

void process_forget_jvm(struct process *p, struct tables *tables)
{
	__atomic_and_fetch(&tables->targets[p->index].flags, ~(JVS_TARGET_JAVA | JVS_TARGET_ANCHOR),
			   __ATOMIC_RELEASE);
	jvm_close(p->jvm);
	p->jvm = NULL;
	p->state = PROCESS_WAITING;
	p->programs++;
	p->looks = 0;
	p->refreshes = 0;
	p->class_cost_ns = 0;
	p->mapping_cost_ns = 0;
}

void process_enable(struct process *p, struct tables *tables, bool on)
{
	uint32_t *flags = &tables->targets[p->index].flags;

	if (on)
		__atomic_or_fetch(flags, JVS_TARGET_ON, __ATOMIC_RELEASE);
	else
		__atomic_and_fetch(flags, ~JVS_TARGET_ON, __ATOMIC_RELEASE);
}

void process_read_cpu(struct process *p, bool from_start)
{
	uint64_t now;

	if (target_cpu_ns(p->target, &now))
		return;
	p->last_cpu_ns = now;
	if (from_start)
		p->start_cpu_ns = now;
}

uint64_t process_cpu_ns(const struct process *p)
{
	return p->last_cpu_ns > p->start_cpu_ns ? p->last_cpu_ns - p->start_cpu_ns : 0;
}

void process_end(struct process *p, struct tables *tables)
{
	uint32_t tgid = (uint32_t)p->target->pid;

	process_enable(p, tables, false);
	bpf_map_delete_elem(tables->pids_fd, &tgid);
	for (size_t i = 0; i < p->known_count; i++) {
		uint32_t tid = (uint32_t)p->known[i].tid;

		if (p->known[i].java_thread)
			bpf_map_delete_elem(tables->threads_fd, &tid);
	}
	p->state = PROCESS_ENDED;
}

void process_close(struct process *p, struct images *images, struct tables *tables)
{
	if (!p->target)
		return;
	if (p->state != PROCESS_ENDED)
		process_end(p, tables);
	mappings_free(&p->previous, images, tables);
	mappings_free(&p->current, images, tables);
	jvm_close(p->jvm);
	target_close(p->target);
	map64_free(&p->threads);
	free(p->known);
	*p = (struct process){ 0 };
}
