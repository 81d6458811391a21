/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_FAKES_JFR_H
#define JVMSCOPE_FAKES_JFR_H

/*
 * Calls of pwrite() and ftruncate(), which a test can make fail, or be the last of the process. Of
 * all folders; a test sets it back to zero.
 */
struct fake_disk {
	int calls;   /* so far */
	int full_at; /* this call and all later writes fail with ENOSPC; 0: none */
	int end_at;  /* the process ends behind this call; 0: it does not */
};
extern struct fake_disk fake_disk;

#endif
