/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "tests/kernel/request.h"

/*
 * The trie's search in the kernel over a list of names; loaded by trie.c alone. Each program is
 * one way to loop, and goes over all names in one run, so that the time of a run says something.
 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 jvs_trie_count = 1;
const volatile __u32 jvs_trie_long_count;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u16));
} trie_words SEC(".maps");

#include "bpf/trie_loop.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trie_test_name);
} names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trie_search);
} slots SEC(".maps");

const volatile __u32 name_count;

/* What the probe was given last, and its answer. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trie_test_probed);
} probed SEC(".maps");

enum { BY_HELPER, BY_ITERATOR, NOT_AT_ALL };

TRIE_INLINE long search_one(__u32 number, int how)
{
	struct trie_test_name *name = bpf_map_lookup_elem(&names, &number);
	struct trie_loop loop;
	__u32 first = 0;

	loop.search = bpf_map_lookup_elem(&slots, &first);
	loop.units = bpf_map_lookup_elem(&trie_words, &first);
	if (!name || !loop.search || !loop.units)
		return 1;
	loop.name = (const struct trie_loop_name *)(const void *)name->bytes;
	trie_begin(loop.search, name->have, name->len, 0);
	if (how == BY_HELPER)
		trie_loop_by_helper(&loop);
	else if (how == BY_ITERATOR)
		trie_loop_by_iterator(&loop);
	name->number = loop.search->number;
	return 0;
}

static long by_helper_one(__u32 number, void *data)
{
	return search_one(number, BY_HELPER);
}

static long by_iterator_one(__u32 number, void *data)
{
	return search_one(number, BY_ITERATOR);
}

static long empty_one(__u32 number, void *data)
{
	return search_one(number, NOT_AT_ALL);
}

SEC("syscall")
int by_helper(void *data)
{
	return bpf_loop(name_count, by_helper_one, NULL, 0);
}

SEC("syscall")
int by_iterator(void *data)
{
	return bpf_loop(name_count, by_iterator_one, NULL, 0);
}

SEC("syscall")
int empty(void *data)
{
	return bpf_loop(name_count, empty_one, NULL, 0);
}

/* As a tracing program does it: the name is in the memory of the process, and may be cut. */
SEC("uprobe")
int BPF_KPROBE(by_probe, const void *bytes, __u32 have, __u32 len)
{
	__u32 first = 0;
	struct trie_test_probed *p = bpf_map_lookup_elem(&probed, &first);
	struct trie_search *search = bpf_map_lookup_elem(&slots, &first);

	if (!p || !search)
		return 0;
	if (have > TRIE_LOOP_NAME_MAX)
		have = TRIE_LOOP_NAME_MAX;
	if (bpf_probe_read_user(p->bytes, have, bytes))
		return 0;
	p->rule = trie_loop_rule(search, (const struct trie_loop_name *)(const void *)p->bytes,
				 have, len);
	p->calls++;
	return 0;
}
