/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_NAMES_H
#define JVMSCOPE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/*
 * The name of a class as the JVM has it ("com/example/Foo$$Lambda+0x00007f01") in two Java forms.
 *
 * normal is the same for all copies of generated code and in every run: hidden classes lose their
 * suffix, lambdas, proxies and reflection accessors their number ("com.example.Foo$$Lambda",
 * "jdk.proxy.$Proxy"). raw is what Class.getName() prints ("com.example.Foo$$Lambda/0x00007f01");
 * it is left empty when it equals normal, which is so for every class that was compiled by javac.
 *
 * Both buffers are emptied first. Bytes are kept as they are (modified UTF-8); dots instead of
 * slashes are accepted, too.
 */
void names_class(const char *internal, size_t len, struct strbuf *normal, struct strbuf *raw);

/* The same of any type, as the JVM names classes: "[[Lcom/example/Foo;" is "com.example.Foo[][]".
 */
void names_type(const char *internal, size_t len, struct strbuf *normal, struct strbuf *raw);

/* The way back, of an array: "byte[]" to "[B". Whether it is one; else to is left empty. */
bool names_array(const char *name, struct strbuf *to);

#endif
