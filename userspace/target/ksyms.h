/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_KSYMS_H
#define JVMSCOPE_KSYMS_H

#include <stdint.h>

/* Kernel text symbols, from /proc/kallsyms, read at the first look-up. */
struct ksyms;

/* Never fails for lack of rights: then no look-up finds anything. Returns 0 or -ENOMEM. */
int ksyms_open(struct ksyms **out);

/*
 * "do_syscall_64", or with module "xfs_read [xfs]"; NULL when unknown (addresses hidden, or
 * not kernel text). Valid as long as the table.
 */
const char *ksyms_find(struct ksyms *syms, uint64_t addr);

void ksyms_close(struct ksyms *syms);

#endif
