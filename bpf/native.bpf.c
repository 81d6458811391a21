/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "native_state.h"

#include "native_sample.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What is to be done with a call after a look at it. */
enum next {
	PASS,	/* nothing more, and no return is wanted */
	BOOK,	/* take its stack, and wait for its return */
	UNKNOWN /* take its stack: it frees a block from before */
};

static __always_inline __u64 block_key(__u32 target, __u64 address)
{
	return (address & JVS_ADDRESS_MASK) | (__u64)target << JVS_ADDRESS_BITS;
}

static __always_inline void count(__u32 target, __u32 counter, __u64 value)
{
	struct jvs_native_counts *counts = bpf_map_lookup_elem(&jvs_native_counts, &target);

	if (counts && counter < JVS_NATIVE_COUNT_NR)
		__sync_fetch_and_add(&counts->values[counter], value);
}

static __always_inline struct jvs_native_site *site_at(__u32 id)
{
	return bpf_map_lookup_elem(&jvs_native_sites, &id);
}

/* ---- frees */

static __always_inline void book_free(const struct jvs_native_block *block)
{
	struct jvs_native_site *site = site_at(block->site);
	__s64 live;

	if (!site)
		return;
	__sync_fetch_and_add(&site->freed_blocks, block->blocks);
	__sync_fetch_and_add(&site->freed_bytes, block->bytes);
	/* Of two at once the higher may stay: it is as low but for one block. */
	live = site->allocated_bytes - site->freed_bytes - site->untracked_bytes;
	if (live < site->low)
		site->low = live;
}

/* Takes a block out of the map. Returns whether it was there. */
static __always_inline bool take_block(__u64 key, struct jvs_native_block *out)
{
	struct jvs_native_block *block = bpf_map_lookup_elem(&jvs_native_live, &key);

	if (!block)
		return false;
	*out = *block;
	bpf_map_delete_elem(&jvs_native_live, &key);
	return true;
}

/* libc's free of what os::free was given: the VM's own header may lie before it. */
#define VM_HEADER_MAX 32

static __always_inline bool is_freed_by_vm(struct jvs_native_thread *thread, __u64 address)
{
	__u64 freeing;

	/* Alone, or the verifier of 6.1 is shown a write through a null pointer. */
	if (!thread)
		return false;
	freeing = thread->freeing;
	if (!freeing || address > freeing || freeing - address > VM_HEADER_MAX)
		return false;
	thread->freeing = 0;
	return true;
}

static __always_inline int begin_free(struct jvs_native_call *call,
				      struct jvs_native_thread *thread)
{
	struct jvs_native_block block;

	if (!call->args[0])
		return PASS;
	if (call->probe == JVS_NATIVE_LIBC_FREE && is_freed_by_vm(thread, call->args[0]))
		return PASS;
	if (call->probe == JVS_NATIVE_FREE && thread)
		thread->freeing = call->args[0];
	if (take_block(block_key(call->target, call->args[0]), &block)) {
		book_free(&block);
		count(call->target, JVS_NATIVE_COUNT_FREES, 1);
		return PASS;
	}
	count(call->target, JVS_NATIVE_COUNT_UNKNOWN_FREES, 1);
	call->use = JVS_NATIVE_UNKNOWN_FREE;
	call->tag = JVS_NATIVE_TAG_NONE;
	call->blocks = JVS_NATIVE_ONE;
	return call->mode == JVS_NATIVE_EXACT ? UNKNOWN : PASS;
}

/* ---- allocations */

#define TEXT_PART 256

struct text_length {
	__u64 at;
	__u64 length;
};

static long measure_part(__u32 number, void *data)
{
	struct text_length *text = data;
	char part[TEXT_PART];
	long size = bpf_probe_read_user_str(part, sizeof(part), (const void *)text->at);

	if (size <= 0)
		return 1;
	text->length += size - 1;
	text->at += size - 1;
	/* It was cut when there was no place for more: the NUL is then ours. */
	return size < TEXT_PART;
}

static __always_inline __u64 text_bytes(__u64 address)
{
	struct text_length text = { .at = address };

	bpf_loop(256, measure_part, &text, 0);
	return text.length + 1;
}

static __always_inline void read_arguments(struct jvs_native_call *call)
{
	call->tag = JVS_NATIVE_TAG_LIBC;
	switch (call->probe) {
	case JVS_NATIVE_MALLOC:
	case JVS_NATIVE_MALLOC_RESULT:
		call->size = call->args[0];
		call->tag = call->args[1] & 0xff;
		break;
	case JVS_NATIVE_STRDUP:
		call->size = text_bytes(call->args[0]);
		call->tag = call->args[1] & 0xff;
		break;
	case JVS_NATIVE_REALLOC:
		call->tag = call->args[2] & 0xff;
		/* fall through */
	case JVS_NATIVE_LIBC_REALLOC:
		call->old = call->args[0];
		call->size = call->args[1];
		break;
	case JVS_NATIVE_LIBC_MALLOC:
		call->size = call->args[0];
		break;
	case JVS_NATIVE_LIBC_CALLOC:
		call->size = call->args[0] * call->args[1];
		break;
	case JVS_NATIVE_LIBC_ALIGNED:
		call->size = call->args[1];
		break;
	case JVS_NATIVE_LIBC_POSIX_ALIGN:
		call->result = call->args[0];
		call->size = call->args[2];
		break;
	}
}

/* Whether the block is wanted, and what it stands for. */
static __always_inline bool is_wanted(struct jvs_native_call *call,
				      struct jvs_native_thread *thread)
{
	call->bytes = call->size;
	call->blocks = JVS_NATIVE_ONE;
	if ((call->mode & ~JVS_NATIVE_UNFOLLOWED) != JVS_NATIVE_SAMPLED)
		return true;
	if (!thread->has_left) {
		thread->left = sample_distance(call->interval);
		thread->has_left = 1;
	}
	thread->left -= call->size;
	if (thread->left > 0)
		return false;
	thread->left = sample_distance(call->interval);
	sample_weigh(call->size, call->interval, &call->bytes, &call->blocks);
	return true;
}

static __always_inline int begin_allocation(struct jvs_native_call *call,
					    struct jvs_native_thread *thread)
{
	enum jvs_call_place place;

	if (!thread) {
		count(call->target, JVS_NATIVE_COUNT_NO_STATE, 1);
		return PASS;
	}
	place = jvs_place_of_call(&thread->outermost, call->sp, call->epoch);
	if (place == JVS_CALL_PART) {
		count(call->target, JVS_NATIVE_COUNT_NESTED, 1);
		return PASS;
	}
	if (place == JVS_CALL_BEHIND)
		count(call->target, JVS_NATIVE_COUNT_NO_RETURN, 1);
	thread->outermost.sp = 0;
	read_arguments(call);
	thread->old = call->old;
	thread->had.site = 0;
	/*
	 * Before libc has it: another thread may be given its address before this call returns.
	 */
	if (call->old && take_block(block_key(call->target, call->old), &thread->had) &&
	    !call->size) {
		book_free(&thread->had);
		return PASS;
	}
	if (call->probe == JVS_NATIVE_MALLOC_RESULT && !call->result) {
		count(call->target, JVS_NATIVE_COUNT_FAILED, 1);
		return PASS;
	}
	if (is_wanted(call, thread)) {
		call->use = JVS_NATIVE_HEAP;
		return BOOK;
	}
	count(call->target, JVS_NATIVE_COUNT_SKIPPED, 1);
	if (thread->had.site)
		book_free(&thread->had);
	return PASS;
}

/* A first look. Returns enum next. */
__attribute__((noinline)) int jvs_native_begin(struct jvs_native_call *call)
{
	struct jvs_native_thread *thread;

	if (!call)
		return PASS;
	thread = bpf_task_storage_get(&jvs_native_threads, bpf_get_current_task_btf(), NULL,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	count(call->target, JVS_NATIVE_COUNT_ENTRIES, 1);
	if (call->probe == JVS_NATIVE_FREE || call->probe == JVS_NATIVE_LIBC_FREE)
		return begin_free(call, thread);
	return begin_allocation(call, thread);
}

/* ---- sites */

/* A place for one more: one that was given back, else one that never was used; 0: there is none. */
static __always_inline __u32 free_place(void)
{
	__u32 zero = 0, id = 0;
	__u64 *sites;

	if (!bpf_map_pop_elem(&jvs_native_free_sites, &id))
		return id;
	sites = bpf_map_lookup_elem(&jvs_native_site_count, &zero);
	if (!sites || *sites >= jvs_native_max_sites - 1)
		return 0;
	return __sync_fetch_and_add(sites, 1) + 1;
}

static __always_inline __u32 new_site(const struct jvs_native_site_key *key)
{
	__u32 id = free_place(), *other;
	struct jvs_native_site *site = id ? site_at(id) : NULL;

	if (!site)
		return 0;
	site->target = key->target;
	site->tag = key->tag;
	site->use = key->use;
	site->stack = key->stack;
	if (!bpf_map_update_elem(&jvs_native_site_ids, key, &id, BPF_NOEXIST))
		return id;
	/* One that another CPU has just made is taken. */
	site->stack = 0;
	site->target = JVS_NATIVE_NOBODY;
	bpf_map_push_elem(&jvs_native_free_sites, &id, BPF_ANY);
	other = bpf_map_lookup_elem(&jvs_native_site_ids, key);
	return other ? *other : 0;
}

/* ---- blocks */

/* The block was free by its address, and its free was not seen. */
static __always_inline void replace_block(__u32 target, __u64 key, struct jvs_native_block *block)
{
	struct jvs_native_block old;

	if (take_block(key, &old)) {
		book_free(&old);
		count(target, JVS_NATIVE_COUNT_UNSEEN_FREES, 1);
	}
	bpf_map_update_elem(&jvs_native_live, &key, block, BPF_ANY);
}

#define EEXIST 17

static __always_inline void keep_block(__u32 target, __u64 key, struct jvs_native_block *block,
				       struct jvs_native_site *site)
{
	long err = bpf_map_update_elem(&jvs_native_live, &key, block, BPF_NOEXIST);

	if (err == -EEXIST) {
		replace_block(target, key, block);
	} else if (err) {
		count(target, JVS_NATIVE_COUNT_LIVE_FULL, 1);
		__sync_fetch_and_add(&site->untracked_blocks, block->blocks);
		__sync_fetch_and_add(&site->untracked_bytes, block->bytes);
	}
}

static __always_inline void book_block(__u32 target, __u32 mode, __u64 address, __u64 time_ns,
				       struct jvs_native_block *block)
{
	struct jvs_native_site *site = site_at(block->site);
	__u64 size = block->bytes * JVS_NATIVE_ONE / (block->blocks ? block->blocks : 1);

	count(target, JVS_NATIVE_COUNT_ALLOCATIONS, 1);
	count(target, JVS_NATIVE_COUNT_ALLOCATED_BYTES, size);
	if (!site)
		return;
	__sync_fetch_and_add(&site->allocated_blocks, block->blocks);
	__sync_fetch_and_add(&site->allocated_bytes, block->bytes);
	if (block->bytes > size)
		__sync_fetch_and_add(&site->variance,
				     (block->bytes >> 6) * ((block->bytes - size) >> 6));
	if (mode & JVS_NATIVE_UNFOLLOWED) {
		__sync_fetch_and_add(&site->untracked_blocks, block->blocks);
		__sync_fetch_and_add(&site->untracked_bytes, block->bytes);
		return;
	}
	block->time = time_ns >> JVS_NATIVE_TIME_SHIFT;
	keep_block(target, block_key(target, address), block, site);
}

/* ---- entries whose stack is known */

/* Books an entry whose stack is known. Returns 0 when its return is to be waited for. */
__attribute__((noinline)) int jvs_native_book(struct jvs_native_call *call, __u64 stack)
{
	struct jvs_native_site_key key = { .stack = stack };
	struct jvs_native_thread *thread;
	struct jvs_native_site *site;
	__u32 *found, id;

	if (!call)
		return 1;
	key.target = call->target;
	key.tag = call->tag;
	key.use = call->use;
	found = bpf_map_lookup_elem(&jvs_native_site_ids, &key);
	id = found ? *found : new_site(&key);
	if (!id)
		count(call->target, JVS_NATIVE_COUNT_SITES_FULL, 1);
	if (call->use == JVS_NATIVE_UNKNOWN_FREE) {
		site = site_at(id);
		if (site)
			__sync_fetch_and_add(&site->freed_blocks, call->blocks);
		return 1;
	}
	if (call->probe == JVS_NATIVE_MALLOC_RESULT) {
		struct jvs_native_block block = { .bytes = call->bytes,
						  .blocks = call->blocks,
						  .site = id };

		book_block(call->target, call->mode, call->result, call->time_ns, &block);
		return 1;
	}
	thread = bpf_task_storage_get(&jvs_native_threads, bpf_get_current_task_btf(), NULL, 0);
	if (!thread)
		return 1;
	thread->fresh.bytes = call->bytes;
	thread->fresh.blocks = call->blocks;
	thread->fresh.site = id;
	thread->result = call->result;
	thread->outermost.epoch = call->epoch;
	thread->outermost.sp = call->sp;
	return 0;
}

/* ---- returns */

/* The call that began at sp has returned; value: its result. */
__attribute__((noinline)) int jvs_native_end(__u32 target, __u32 mode, __u64 sp, __u64 value,
					     __u64 time_ns)
{
	struct jvs_native_thread *thread;
	__u64 key;

	thread = bpf_task_storage_get(&jvs_native_threads, bpf_get_current_task_btf(), NULL, 0);
	if (!thread || !thread->outermost.sp || thread->outermost.sp != sp)
		return 0;
	thread->outermost.sp = 0;
	if (thread->result) {
		if (value || bpf_probe_read_user(&value, sizeof(value), (void *)thread->result))
			value = 0;
	}
	if (!value) {
		count(target, JVS_NATIVE_COUNT_FAILED, 1);
		if (!thread->had.site)
			return 0;
		/* The old block stays what it was. */
		key = block_key(target, thread->old);
		bpf_map_update_elem(&jvs_native_live, &key, &thread->had, BPF_ANY);
		return 0;
	}
	/* In this order, so that a block that moves does not make its site's lowest point. */
	book_block(target, mode, value, time_ns, &thread->fresh);
	if (thread->had.site)
		book_free(&thread->had);
	return 0;
}

/* ---- programs */

static __always_inline __u64 take_stack(__u32 target, const struct jvs_target *t)
{
	enum jvs_captured how;
	__u64 hash = jvs_capture_at_probe(target, t, &how);

	/* What did not fit is sent again the next time; blocks are booked by its hash meanwhile. */
	if (how == JVS_CAPTURED_NOT)
		count(target, JVS_NATIVE_COUNT_STACK_BUSY, 1);
	else if (how == JVS_CAPTURED_UNSENT)
		count(target, JVS_NATIVE_COUNT_STACK_FULL, 1);
	else if (how == JVS_CAPTURED_AGAIN)
		count(target, JVS_NATIVE_COUNT_RECALLED, 1);
	return hash;
}

JVS_CALLER(native)

static __always_inline void read_registers(struct pt_regs *ctx, struct jvs_native_call *call)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	call->probe = cookie & JVS_NATIVE_COOKIE_PROBE;
	if (call->probe == JVS_NATIVE_MALLOC_RESULT) {
		call->result = PT_REGS_RC(ctx);
		call->args[0] = jvs_preserved(ctx, cookie >> JVS_NATIVE_COOKIE_FIRST & 0xff);
		call->args[1] = jvs_preserved(ctx, cookie >> JVS_NATIVE_COOKIE_SECOND & 0xff);
		return;
	}
	call->args[0] = PT_REGS_PARM1(ctx);
	call->args[1] = PT_REGS_PARM2(ctx);
	call->args[2] = PT_REGS_PARM3(ctx);
}

static __always_inline int on_entry(struct pt_regs *ctx, const struct caller *caller)
{
	const struct jvs_native_control *control = caller->control;
	struct jvs_native_call call = {};
	__u32 target = caller->target;
	__u64 stack = 0;
	int next, done = 1;

	if (control->mode == JVS_NATIVE_OFF)
		return 1;
	read_registers(ctx, &call);
	call.sp = PT_REGS_SP(ctx);
	call.time_ns = caller->start_ns;
	call.target = target;
	call.mode = control->mode;
	call.epoch = control->epoch;
	call.interval = control->interval;

	next = jvs_native_begin(&call);
	if (next != PASS) {
		if (call.mode != (JVS_NATIVE_COUNTED | JVS_NATIVE_UNFOLLOWED))
			stack = take_stack(target, caller->t);
		done = jvs_native_book(&call, stack);
	}
	count(target, JVS_NATIVE_COUNT_RUN_NS, bpf_ktime_get_ns() - caller->start_ns);
	return done;
}

static __always_inline void on_return(struct pt_regs *ctx, const struct caller *caller)
{
	__u32 target = caller->target;

	jvs_native_end(target, caller->control->mode, PT_REGS_SP(ctx) - JVS_RETURN_SLOT,
		       PT_REGS_RC(ctx), caller->start_ns);
	count(target, JVS_NATIVE_COUNT_RETURNS, 1);
	count(target, JVS_NATIVE_COUNT_RUN_NS, bpf_ktime_get_ns() - caller->start_ns);
}

JVS_CALL_PROGRAMS(native)
