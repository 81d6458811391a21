/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_REGS_H
#define JVS_REGS_H

#include "walk.h"

/* Registers of a thread into a walk. Needs jvs_read_word(). */

#ifdef __TARGET_ARCH_arm64
#include "regs_arm64.h"
#else
#include "regs_x86.h"
#endif

#endif
