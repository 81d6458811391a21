/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CLASSFILE_H
#define JVMSCOPE_CLASSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A class file (JVMS chapter 4), and what differs in two of one class.
 *
 * Only what a comparison needs is read. Names are modified UTF-8 inside the bytes, which must stay
 * as long as the struct is used.
 */

struct classfile_text {
	const char *bytes;
	size_t len; /* 0: the file does not have it */
};

struct classfile_method {
	struct classfile_text name;
	struct classfile_text signature;
	const uint8_t *code; /* NULL: none */
	uint32_t code_size;
	uint16_t max_stack;
	uint16_t max_locals;
	uint16_t frame_count;  /* entries of its StackMapTable */
	const uint8_t *frames; /* they, NULL: none */
	uint32_t frames_size;
};

struct classfile {
	uint16_t major;
	uint16_t constants; /* as the file has it: one more than the highest index */
	uint16_t method_count;
	uint16_t methodrefs; /* also those of interfaces */
	bool has_frames;
	const uint8_t *bytes; /* borrowed */
	size_t size;
	uint32_t *pool;			  /* owned; [constants]: where each is, 0 none */
	uint64_t *texts;		  /* owned; [constants]: hashes, as far as they are known */
	struct classfile_method *methods; /* owned */
};

/* Returns 0, -EBADMSG (not a class file, or cut), -ENOMEM. On error *out is untouched. */
int classfile_parse(const uint8_t *bytes, size_t size, struct classfile *out);
void classfile_free(struct classfile *file);

/* Of a method that is not the same in both. before is NULL when only after has it. */
struct classfile_change {
	const struct classfile_method *before, *after;
	uint32_t calls_added;	 /* calls of methods that before's constant pool does not name */
	uint32_t calls_at_entry; /* of which INVOKESTATIC with nothing but its arguments before */
	uint32_t calls_at_exit;	 /* of which INVOKESTATIC with a return or ATHROW right behind,
				    but for the one that is at entry, too */
	bool frames_changed;
};

/*
 * Calls changed for each method of after that differs from before's: its instructions, max_stack,
 * max_locals or StackMapTable. Instructions are compared by what their constants say: a constant
 * pool in another order is no difference. Returns how many methods after's constant pool names
 * that before's does not, or -ENOMEM.
 */
int classfile_compare(const struct classfile *before, const struct classfile *after,
		      void (*changed)(const struct classfile_change *change, void *ctx), void *ctx);

/* For classfile*.c. The hash of what a constant says; 0: there is none. */
uint64_t classfile_constant(const struct classfile *file, uint16_t index);
bool classfile_is_method(const struct classfile *file, uint16_t index);

#endif
