/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_METADATA_H
#define JVMSCOPE_JFR_METADATA_H

#include <stdint.h>

#include "jfr/jfr_bytes.h"

/*
 * Appends the metadata event: every type of jfr_events.h, and the annotations that say what
 * numbers mean. It is the same in every chunk but for its start.
 *
 * Its id is made from its content: the JDK takes the metadata of the chunk before when two in a
 * row have the same id, also when somebody put two files together.
 */
void jfr_put_metadata(struct jfr_bytes *bytes, uint64_t start_ticks);

#endif
