/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LEDGER_LIBC_H
#define JVMSCOPE_LEDGER_LIBC_H

#include <stdbool.h>
#include <stdint.h>

struct claims;
struct maps;
struct smaps;
struct target;

/*
 * What glibc knows of thread stacks: the lists that gdb's libthread_db reads, whose places
 * libc.so.6 exports (GLIBC_PRIVATE) from 2.34 on. They have every thread, Java's or not.
 */
struct libc {
	bool found;	     /* a libc is mapped whose lists can be read */
	uint64_t data_start; /* its writable data */
	uint64_t data_end;
	uint64_t globals;     /* of the loader: the lists are in it */
	uint32_t used, user;  /* offsets of the lists there */
	uint32_t link, tid;   /* offsets in a thread's descriptor */
	uint32_t thread_size; /* bytes of a descriptor */
	uint32_t stack;	      /* offset of the stack's base and size; 0: not yet known */
};

/* Finds the lists; found is false when they cannot be read. Never logs. */
void libc_open(const struct target *t, const struct maps *maps, struct libc *out);

/*
 * Claims the stacks, those that libc keeps for the next thread, and the first thread's. by_name:
 * in parts, by the kernel's name of the thread without its number. *threads is how many there
 * are in the lists.
 */
void libc_claim_stacks(struct libc *libc, const struct target *t, const struct smaps *smaps,
		       struct claims *claims, bool by_name, uint64_t *threads);

#endif
