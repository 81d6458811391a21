/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CMDLINE_H
#define JVMSCOPE_CMDLINE_H

#include <stddef.h>

struct strbuf;

#define CMDLINE_MAX 65536 /* bytes read of one; Linux allows MiBs */

/*
 * Reads the command line of a java launcher as the launcher does: arguments each ended by NUL, as
 * in /proc/PID/cmdline. Results are valid UTF-8, cut at size - 1 bytes and always terminated.
 */

/*
 * What is run: the main class ("com.example.Main"), the jar as given ("/app/app.jar"), the module
 * ("app/com.example.Main") or the source file. "" when the line does not say: an
 * @argfile does, or the JVM was not started by the java launcher. @argfiles are skipped, not read.
 */
void cmdline_main_class(const char *bytes, size_t len, char *to, size_t size);

/*
 * The options for the JVM (-Xmx1g -XX:+UseG1GC -Dx=y -javaagent:a.jar --add-opens a/b=c), with
 * one space between. Class and module paths, what is run and its arguments are left out.
 * When they do not fit, or the line is longer than CMDLINE_MAX, " [truncated]" is at their end.
 */
void cmdline_arguments(const char *bytes, size_t len, char *to, size_t size);

/* Text of any kind as a result, with the mark at its end when it is truncated or does not fit. */
void cmdline_put(const struct strbuf *text, char *to, size_t size);

#endif
