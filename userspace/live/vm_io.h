/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_VM_IO_H
#define JVMSCOPE_LIVE_VM_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/jvs_io.h"
#include "live/probes.h"
#include "model/table.h"

/* Reads and writes of sockets and files: the part of vm.h that is not in libjvm. */

#define VM_IO_LIBRARIES 3
#define VM_IO_PATHS	256 /* that are remembered; of those with the same place the last one */

/* A file that was seen by its path. */
struct vm_io_path {
	uint64_t inode;
	uint32_t device;
	uint32_t string; /* of the recording; 0: none */
};

/* What the recording has been told of a sum, which the kernel never begins anew. */
struct vm_io_sum {
	struct jvs_io_key key;
	struct jvs_io_sum told;
};

struct vm_io {
	struct probe_set sets[VM_IO_LIBRARIES];
	struct jvs_io_control control;
	uint64_t libjava_inode;
	uint64_t fields[JVS_IO_FIELDS]; /* where libjava keeps their ids; 0: not known */
	bool shown;			/* the kernel knows them */
	struct vm_io_path paths[VM_IO_PATHS];
	struct table sums; /* of struct vm_io_sum */
};

#endif
