/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LIVE_SETTINGS_H
#define JVMSCOPE_LIVE_SETTINGS_H

struct process;
struct recording;

/* What the JVM of a target runs with (model/settings.h), as far as it can be read. Once. */
void settings_put(const struct process *p, struct recording *rec);

#endif
