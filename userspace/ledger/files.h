/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LEDGER_FILES_H
#define JVMSCOPE_LEDGER_FILES_H

struct claims;
struct smaps;
struct target;

/* Claims what is mapped from files, data of libraries that has no file behind it, and the vDSO. */
void files_claim(const struct target *t, const struct smaps *smaps, struct claims *claims);

/* File name of another allocator's library that is mapped, or NULL. */
const char *files_allocator(const struct smaps *smaps);

#endif
