/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_NMETHOD_H
#define JVMSCOPE_NMETHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"
#include "jvm/layout.h"
#include "jvm/method.h"

struct target;

/*
 * Debug information of compiled methods, copied whole when one is first seen: the code cache is
 * reused, and since JDK 23 a freed nmethod's debug information is freed memory.
 *
 * A method that its scopes name is read when a frame of it is first seen, and believed when the
 * nmethod is there afterwards: it keeps the classes of its methods from being unloaded.
 *
 * The copies are limited to NMETHODS_BYTES; beyond, the oldest are dropped.
 */
#define NMETHODS_BYTES (16u << 20)
#define NMETHODS_MAX   32768

struct nmethod {
	uint64_t address;
	struct identity {
		uint64_t name;	 /* CodeBlob::_name */
		uint64_t method; /* Method*; 0 when it was unloaded */
		uint32_t compile_id;
		bool used; /* of its HeapBlock */
	} identity;
	bool native;
	int level;
	/* The below lie behind the struct. */
	uint8_t *pcs; /* PcDescs */
	uint32_t pcs_count;
	uint8_t *scopes;
	uint32_t scopes_size;
	uint64_t *addresses;	       /* of what the scopes name, mostly methods; last: its own */
	const struct method **methods; /* the same, NULL where not yet or not to be read */
	uint32_t methods_count;
	size_t bytes; /* of this allocation */
};

struct nmethods {
	const struct target *target;
	const struct hotspot *hotspot;
	struct methods *methods;
	uint64_t native_name;  /* address of "native nmethod", 0 while unknown */
	struct nmethod **ring; /* owned; NMETHODS_MAX places, [number % NMETHODS_MAX] */
	uint32_t first, next;  /* numbers of the oldest and of the one to come */
	struct map64 by_key;   /* number */
	size_t bytes;
};

/*
 * The nmethod at an address, if it is the one with this compile id. Returns 0, -ESTALE (it is
 * another now), -EBADMSG, -EFAULT, -ESRCH, -ENOMEM. Valid until the next call.
 */
int nmethods_get(struct nmethods *nmethods, uint64_t address, uint32_t compile_id,
		 struct nmethod **out);

/* Names the activations at an offset from the code's start, innermost first. As jvm_describe. */
int nmethod_describe(struct nmethods *nmethods, struct nmethod *nmethod, uint32_t offset, bool leaf,
		     struct jvm_frame out[JVM_INLINE_MAX]);

size_t nmethods_memory(const struct nmethods *nmethods);

void nmethods_free(struct nmethods *nmethods);

#endif
