/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpf/capture.h"
#include "tests/kernel/request.h"

/*
 * The product's step code in the kernel, over the memory of the process that runs this program.
 * Linked with the product's objects; loaded by walk.c alone.
 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

int jvs_step(struct jvs_walk *w);

struct loop {
	struct jvs_walk *w;
};

static long step_once(__u32 number, void *data)
{
	struct loop *loop = data;
	int result = jvs_step(loop->w);

	loop->w->status = result;
	return result != JVS_STATUS_RUN;
}

static void begin(struct jvs_walk *w, const struct jvs_target *t,
		  const struct walk_request *request)
{
	w->slot = 0;
	w->target = 0;
	w->source = JVS_SLOT_PROBE;
	w->in_kernel = 0;
	jvs_begin_walk(w, t);
	w->pc = request->pc;
	w->sp = request->sp;
	w->fp = request->fp;
	w->start_sp = request->sp;
	w->at = JVS_AT_LEAF;
}

static long walk_once(__u32 number, void *data)
{
	struct walk_request *request = *(struct walk_request **)data;
	const struct jvs_target *t;
	struct loop loop;
	__u32 first = 0;

	loop.w = bpf_map_lookup_elem(&jvs_slots, &first);
	t = bpf_map_lookup_elem(&jvs_targets, &first);
	if (!loop.w || !t)
		return 1;
	begin(loop.w, t, request);
	bpf_loop(JVS_WALK_LIMIT + 8, step_once, &loop, 0);
	return 0;
}

SEC("syscall")
int walk(struct walk_request *request)
{
	struct jvs_walk *w;
	__u32 slot = 0;
	__u64 start = bpf_ktime_get_ns();

	bpf_loop(request->times, walk_once, &request, 0);
	request->walk_ns = bpf_ktime_get_ns() - start;

	w = bpf_map_lookup_elem(&jvs_slots, &slot);
	if (!w)
		return 1;
	request->status = w->status;
	request->walked = w->walked;
	request->hash = w->hash;
	if (request->send)
		request->send_failed = jvs_send_stack(w, request->send == 2);
	return 0;
}
