/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native half of JniFrames. Compiled without frame pointers, once with and once without unwind
 * tables. The helpers are kept apart and given work for their callee-saved registers, rbp among
 * them, so that a walk by frame pointer would go astray.
 */
#include <jni.h>
#include <stdint.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static NOINLINE uint64_t mix(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	for (int i = 0; i < 5000; i++) {
		a = a * 31 + b;
		b = b * 37 + c;
		c ^= d + a;
		d += e ^ b;
		e = e * 41 + f;
		f ^= a + d;
	}
	return a ^ b ^ c ^ d ^ e ^ f;
}

static NOINLINE uint64_t spin(int64_t ns, uint64_t x)
{
	int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t a = x, b = x + 1, c = x + 2, d = x + 3;

	do {
		a = mix(a, b, c, d, x, 5) + d;
		b ^= mix(b, c, d, a, x, 7) + c;
		c += mix(c, d, a, b, x, 9) ^ a;
		d = d * 31 + b;
	} while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start < ns);
	return a ^ b ^ c ^ d;
}

static NOINLINE uint64_t nap(int64_t ns, uint64_t x)
{
	static const struct timespec moment = { 0, 100000 };
	int64_t start = clock_ns(CLOCK_MONOTONIC);

	do {
		nanosleep(&moment, NULL);
		x = x * 31 + 1;
	} while (clock_ns(CLOCK_MONOTONIC) - start < ns);
	return x;
}

JNIEXPORT jlong JNICALL Java_JniFrames_nativeSpin(JNIEnv *env, jclass class, jlong ns)
{
	(void)env;
	return (jlong)spin(ns, (uintptr_t) class) + 1;
}

JNIEXPORT jlong JNICALL Java_JniFrames_nativeNap(JNIEnv *env, jclass class, jlong ns)
{
	(void)env;
	return (jlong)nap(ns, (uintptr_t) class) + 1;
}

JNIEXPORT jlong JNICALL Java_JniFrames_nativeCallBack(JNIEnv *env, jclass class, jlong ns)
{
	jmethodID burn = (*env)->GetStaticMethodID(env, class, "burn", "(J)J");

	if (!burn)
		return 0;
	return (*env)->CallStaticLongMethod(env, class, burn, ns) + (jlong)mix(1, 2, 3, 4, 5, 6);
}
