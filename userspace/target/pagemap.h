/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PAGEMAP_H
#define JVMSCOPE_PAGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Which pages of a process are in memory: /proc/PID/pagemap, one word of 64 bits a page. */

#define PAGE_BYTES 4096u /* of x86_64, and of most arm64 kernels */

/* Bits of a word, from Documentation/admin-guide/mm/pagemap.rst. */
#define PAGEMAP_PRESENT	  (1ull << 63)
#define PAGEMAP_SWAPPED	  (1ull << 62)
#define PAGEMAP_FILE	  (1ull << 61) /* of a file, or shared anonymous memory */
#define PAGEMAP_EXCLUSIVE (1ull << 56) /* nobody else maps it */

/*
 * A page that counts neither as file nor as exclusively mapped is the zero page, which is not
 * resident memory, or one that a forked child still shares, which is.
 */
static inline bool pagemap_is_zero_or_shared(uint64_t word)
{
	return word & PAGEMAP_PRESENT && !(word & (PAGEMAP_FILE | PAGEMAP_EXCLUSIVE));
}

/* Opens the file. A descriptor or a negative errno. */
int pagemap_open(pid_t pid);

/* The words of count pages from addr's on. Returns 0, -EFAULT (no such addresses), -ESRCH. */
int pagemap_read(int fd, uint64_t addr, size_t count, uint64_t *words);

/*
 * Whether all pages that [addr, addr + size) touches are present. Reading an absent page from
 * outside is an access of the process: it takes memory, or faults a part of a file in.
 */
bool pagemap_all_present(int fd, uint64_t addr, size_t size);

#endif
