/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVMSCOPE_TEST_REQUEST_H
#define JVMSCOPE_TEST_REQUEST_H

#include "bpf/jvs_abi.h"

/* What the walk test asks of its BPF program, and what comes back. */
struct walk_request {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u32 times; /* walks; the last one's stack is sent */
	__u32 send;  /* 0: not; 1: if it is new; 2: always */

	__u32 status;
	__u32 walked;
	__u32 send_failed;
	__u32 pad;
	__u64 hash;
	__u64 walk_ns; /* of all walks */
};

/* A name the trie test gives its BPF programs, and what comes back. */
struct trie_test_name {
	__u32 len;  /* of the whole name */
	__u32 have; /* bytes here */
	__s32 number;
	__u32 pad;
	__u8 bytes[256 + 8]; /* room for a load behind the last */
};

/* What a probe of the trie test was given, and its answer. */
struct trie_test_probed {
	__u32 calls;
	__u32 rule; /* as trie_loop_rule() */
	__u8 bytes[256 + 8];
};

#endif
