/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LOADER_H
#define JVMSCOPE_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/jvs_class.h"

struct hotspot;
struct target;

/*
 * Where a JVM keeps what is said of classes and their loaders.
 *
 * A ClassLoaderData has the loader's class, its name and "name and id" one behind the other, but
 * no JDK exports where: the place is found on the platform loader's, whose name and id is
 * "'platform'". Until that loader is there, early in the start of a JVM, the two members of the
 * layout are JVS_NO_FIELD.
 *
 * Returns 0; -EAGAIN when the loaders' place is not known yet (all else is valid); -ENOENT when
 * this JVM does not show what is needed at all.
 */
int loader_layout(const struct target *t, const struct hotspot *h, struct jvs_class_layout *out);

#define LOADER_NAME_MAX 65536 /* bytes of a Symbol, and a NUL */

/*
 * The bytes of a Symbol (modified UTF-8), a NUL behind them, at most size - 1. Returns the length
 * of the whole, or a negative errno.
 */
int loader_symbol(const struct target *t, const struct jvs_class_layout *layout, uint64_t symbol,
		  char *to, size_t size);

/* The Symbol* that names a Klass; 0 when it cannot be read. */
uint64_t loader_class_symbol(const struct target *t, const struct jvs_class_layout *layout,
			     uint64_t klass);

#endif
