/* SPDX-License-Identifier: Apache-2.0 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "jvm/jvm.h"
#include "live/process.h"
#include "target/target.h"

/* The part of process.h that is about threads. */

#define MAX_THREADS  65536 /* per process; the rest is sampled but has no JavaThread */
#define ROUNDS_KNOWN 8	   /* rounds a thread that has ended stays known */

static struct known_thread *find(struct process *p, pid_t tid)
{
	uint32_t at;

	return map64_get(&p->threads, (uint64_t)tid, &at) ? &p->known[at] : NULL;
}

static struct known_thread *add(struct process *p, pid_t tid)
{
	size_t capacity = p->known_capacity ? p->known_capacity * 2 : 64;
	struct known_thread *known;

	if (p->known_count == p->known_capacity) {
		known = reallocarray(p->known, capacity, sizeof(*known));
		if (!known)
			return NULL;
		p->known = known;
		p->known_capacity = capacity;
	}
	if (map64_set(&p->threads, (uint64_t)tid, (uint32_t)p->known_count))
		return NULL;
	known = &p->known[p->known_count++];
	*known = (struct known_thread){ .tid = tid };
	known->ns_tid =
		p->target->ns_pid == p->target->pid ? tid : target_thread_ns_tid(p->target, tid);
	return known;
}

struct round {
	struct process *p;
	bool from_start;
	bool read_cpu;
};

uint64_t known_thread_cpu_ns(const struct known_thread *known)
{
	uint64_t used = known->before_cpu_ns;

	if (known->last_cpu_ns > known->start_cpu_ns)
		used += known->last_cpu_ns - known->start_cpu_ns;
	return used;
}

/* A thread's time never goes back: then it is another thread that got the number. */
static void note_cpu(struct known_thread *known, uint64_t cpu_ns, bool from_start)
{
	if (cpu_ns < known->last_cpu_ns) {
		known->before_cpu_ns = known_thread_cpu_ns(known);
		known->start_cpu_ns = 0;
	}
	known->last_cpu_ns = cpu_ns;
	if (from_start)
		known->start_cpu_ns = cpu_ns;
}

static int on_thread(pid_t tid, void *ctx)
{
	struct round *round = ctx;
	struct known_thread *known = find(round->p, tid);
	uint64_t cpu_ns;

	if (!known) {
		if (round->p->known_count >= MAX_THREADS)
			return 0;
		known = add(round->p, tid);
		if (!known)
			return 0;
	}
	known->round = round->p->round;
	if (round->read_cpu && target_thread_cpu_ns(round->p->target, tid, &cpu_ns) == 0)
		note_cpu(known, cpu_ns, round->from_start);
	return 0;
}

static int by_ns_tid(const void *a, const void *b)
{
	const struct jvm_thread *x = a, *y = b;

	return (x->ns_tid > y->ns_tid) - (x->ns_tid < y->ns_tid);
}

/* A thread the kernel has no room for is sampled without its state and anchor, and tried again. */
static uint64_t show_java_thread(struct tables *tables, uint32_t tid, uint64_t java_thread)
{
	if (!bpf_map_update_elem(tables->threads_fd, &tid, &java_thread, BPF_ANY))
		return java_thread;
	if (!tables->threads_full)
		log_warn("thread %u: its JavaThread cannot be told to the kernel: %s; its state is "
			 "not known, nor that of others",
			 tid, strerror(errno));
	tables->threads_full = true;
	return 0;
}

/* Tells the kernel which threads are Java threads, and which no longer are. */
static void install(struct process *p, struct tables *tables, struct jvm_thread *java, size_t count)
{
	qsort(java, count, sizeof(*java), by_ns_tid);
	for (size_t i = 0; i < p->known_count; i++) {
		struct known_thread *known = &p->known[i];
		struct jvm_thread key = { .ns_tid = known->ns_tid }, *found = NULL;
		uint32_t tid = (uint32_t)known->tid;

		if (known->round == p->round && count)
			found = bsearch(&key, java, count, sizeof(*java), by_ns_tid);
		if (found && found->java_thread == known->java_thread)
			continue;
		if (!found && known->java_thread)
			bpf_map_delete_elem(tables->threads_fd, &tid);
		known->java_thread = found ? show_java_thread(tables, tid, found->java_thread) : 0;
	}
}

void process_forget_threads(struct process *p,
			    void (*ended)(const struct known_thread *known, void *ctx), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->known_count; i++) {
		struct known_thread known = p->known[i];

		if (known.round + ROUNDS_KNOWN < p->round) {
			ended(&known, ctx);
			map64_remove(&p->threads, (uint64_t)known.tid);
			continue;
		}
		p->known[kept] = known;
		map64_set(&p->threads, (uint64_t)known.tid, (uint32_t)kept);
		kept++;
	}
	p->known_count = kept;
}

void process_read_times(struct process *p)
{
	struct round round = { .p = p, .read_cpu = true };

	p->round++;
	target_each_thread(p->target, on_thread, &round);
}

void process_refresh_threads(struct process *p, struct tables *tables, bool from_start)
{
	struct round round = { .p = p, .from_start = from_start };
	struct jvm_thread *java = NULL;
	size_t count = 0;

	p->round++;
	/* A read of each thread's time costs a system call: at the start, and then now and then. */
	round.read_cpu = from_start || p->round % 8 == 0;
	if (target_each_thread(p->target, on_thread, &round) < 0)
		return;
	if (from_start)
		process_read_cpu(p, true);
	if (p->jvm && jvm_threads(p->jvm, &java, &count) == 0)
		install(p, tables, java, count);
	free(java);
}
