/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_NATIVE_SAMPLE_H
#define JVS_NATIVE_SAMPLE_H

#include "jvs_native.h"

/*
 * Sampling by bytes: each byte is a sample with the same small probability, so a block of s bytes
 * is sampled with probability p = 1 - exp(-s / interval) and then stands for s / p bytes. That is
 * unbiased for any mix of sizes.
 *
 * Table n: -ln(n / 256), and x / (1 - exp(-x)) at x = n / 16; both in JVS_NATIVE_TABLE_ONE.
 */
const volatile __u32 jvs_native_log[JVS_NATIVE_TABLE + 1];
const volatile __u32 jvs_native_weight[JVS_NATIVE_TABLE + 1];

#define SAMPLE_LN_256 363409u /* ln 256 in JVS_NATIVE_TABLE_ONE */

static __always_inline __u64 sample_between(__u64 from, __u64 to, __u64 part)
{
	return (from * (JVS_NATIVE_TABLE_ONE - part) + to * part) / JVS_NATIVE_TABLE_ONE;
}

/* Bytes to the next sample: exponentially distributed, with the interval as mean. */
static __always_inline __s64 sample_distance(__u64 interval)
{
	__u64 log = 0;
	__u32 random = 0, at = 0;

	/* Below 1 / 256 the logarithm is steep: it is that of 1 / 256 and of the rest. */
	for (int i = 0; i < 3 && !at; i++) {
		random = bpf_get_prandom_u32();
		at = random >> 24;
		if (!at)
			log += SAMPLE_LN_256;
	}
	at &= JVS_NATIVE_TABLE - 1;
	if (at)
		log += sample_between(jvs_native_log[at], jvs_native_log[at + 1],
				      random >> 8 & 0xffff);
	return (interval * log / JVS_NATIVE_TABLE_ONE) + 1;
}

/* What a sampled block stands for. */
static __always_inline void sample_weigh(__u64 size, __u64 interval, __u64 *bytes, __u32 *blocks)
{
	__u64 x, at, value;

	*bytes = size;
	*blocks = JVS_NATIVE_ONE;
	if (!size || !interval || size >= JVS_NATIVE_WEIGHT_MAX * interval)
		return;
	x = size * JVS_NATIVE_TABLE_ONE / interval * (JVS_NATIVE_TABLE / JVS_NATIVE_WEIGHT_MAX);
	at = x / JVS_NATIVE_TABLE_ONE & (JVS_NATIVE_TABLE - 1);
	value = sample_between(jvs_native_weight[at], jvs_native_weight[at + 1],
			       x & (JVS_NATIVE_TABLE_ONE - 1));
	value = interval * value / JVS_NATIVE_TABLE_ONE;
	if (value > size) {
		*bytes = value;
		*blocks = value * JVS_NATIVE_ONE / size;
	}
}

#endif
