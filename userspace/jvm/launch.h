/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LAUNCH_H
#define JVMSCOPE_LAUNCH_H

#include <stddef.h>

struct hotspot;
struct target;

/*
 * How a JVM was started.
 *
 * What the JVM itself remembers comes first: it has what the launcher took from @argfiles and
 * JDK_JAVA_OPTIONS, and the JVM from JAVA_TOOL_OPTIONS. Before it can be read (hotspot is NULL),
 * when it does not show it, or when it was not started by a launcher, the command line is taken.
 * See cmdline.h for both results. Never logs.
 */
void launch_main_class(const struct target *t, const struct hotspot *h, char *to, size_t size);
void launch_arguments(const struct target *t, const struct hotspot *h, char *to, size_t size);

/*
 * The name in what the JVM calls its command: a main class, jar or module, and the program's
 * arguments, with blanks between. line_name is what the command line says, or "": it is right
 * when command begins with it, which tells where a name with blanks ends. Returns its length.
 */
size_t launch_name(const char *command, const char *line_name, const char **name);

#endif
