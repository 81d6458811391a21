/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memo.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MEMOS);
	__type(key, __u32);
	__type(value, struct memo);
} jvs_memos SEC(".maps");

JVS_INLINE struct memo *jvs_memo_at(__u32 index)
{
	return bpf_map_lookup_elem(&jvs_memos, &index);
}
