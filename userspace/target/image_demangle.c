/* SPDX-License-Identifier: Apache-2.0 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "target/image.h"

/* The longest name of libjvm 25 has 1,100 characters. */
#define NAME_SIZE 4096

/* Where the demangler's pieces go. */
struct collector {
	char *to;
	size_t size;
	size_t len;
	bool holds_memory; /* while it prints text that is not ASCII */
	jmp_buf full;
};

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

/*
 * A name of a few hundred characters can stand for gigabytes of text (substitutions that double).
 * So the demangler is left as soon as there is no room; it keeps its state on the stack, but for
 * an identifier in punycode of Rust, which is allocated until it is printed, in one piece. Between
 * two of these there always is a piece of ASCII.
 */
static void collect(const char *text, size_t len, void *ctx)
{
	struct collector *collector = ctx;
	size_t room = collector->size - 1 - collector->len;
	size_t part = len < room ? len : room;

	if (part)
		memcpy(collector->to + collector->len, text, part);
	collector->len += part;
	if (part < len && (!collector->holds_memory || is_ascii(text, len)))
		longjmp(collector->full, 1);
}

typedef int demangler(const char *mangled, int options, demangle_callbackref collect, void *ctx);

/* Whether the name was one of this language. */
static int run_demangler(demangler *demangle, const char *name, struct collector *collector)
{
	collector->len = 0;
	/* Without DMGL_PARAMS: names alone. */
	if (setjmp(collector->full) == 0 && !demangle(name, DMGL_NO_OPTS, collect, collector))
		return 0;
	collector->to[collector->len] = '\0';
	return collector->len > 0;
}

/* Without what the compiler and the linker append: ".constprop.0", "@@GLIBC_2.2.5". */
static void copy_bare(const char *name, char bare[NAME_SIZE])
{
	size_t len = strnlen(name, NAME_SIZE - 1);
	size_t end;

	memcpy(bare, name, len);
	bare[len] = '\0';
	end = strcspn(bare, ".@");
	if (end > 0 && strncmp(bare, "_R", 2) != 0)
		bare[end] = '\0';
}

const char *image_demangle(const char *name, char *to, size_t size)
{
	static const struct {
		demangler *demangle;
		bool holds_memory;
	} demanglers[] = {
		{ rust_demangle_callback, true },
		{ cplus_demangle_v3_callback, false },
	};
	struct collector collector = { .to = to, .size = size };
	char bare[NAME_SIZE];

	copy_bare(name, bare);
	for (size_t i = 0; i < sizeof(demanglers) / sizeof(demanglers[0]); i++) {
		collector.holds_memory = demanglers[i].holds_memory;
		if (run_demangler(demanglers[i].demangle, bare, &collector))
			return to;
	}
	snprintf(to, size, "%s", bare);
	return to;
}
