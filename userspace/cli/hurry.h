/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_HURRY_H
#define JVMSCOPE_HURRY_H

#include <stdbool.h>

/*
 * Beside hundreds of threads that all want a CPU we get one turn in hundreds, and attaching would
 * take minutes; a JVM that is starting would be over before its libraries are known. So we take
 * the best nice value while we attach, and give it back. Not a real-time policy: on a machine with
 * one CPU that would stop the target instead of sampling it.
 *
 * A nice value or policy that somebody gave us stays. Without CAP_SYS_NICE nothing happens. The
 * children started meanwhile would inherit it: start them before.
 */
void hurry_begin(bool *hurries);

/* Nothing unless *hurries; false afterwards. */
void hurry_end(bool *hurries);

#endif
