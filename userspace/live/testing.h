/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_TESTING_H
#define JVMSCOPE_LIVE_TESTING_H

#include <stdint.h>

struct decode_hooks;
struct jvs_target;
struct live;

/* Doors for the programs in tests/live that compare the kernel's walk with another's. */

/* hooks is borrowed until live_close. */
void live_set_hooks(struct live *live, const struct decode_hooks *hooks);

/* The row of a target, shared with the kernel: to arm it, or to set a test's flag. */
struct jvs_target *live_target(struct live *live, uint32_t index);

#endif
