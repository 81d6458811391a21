/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_GOVERNOR_H
#define JVMSCOPE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/native.h"

/* What probes may cost, and what is given up when they cost more. */
struct governor {
	enum rec_native_state state;
};

#endif
