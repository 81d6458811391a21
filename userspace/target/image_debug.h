/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_IMAGE_DEBUG_H
#define JVMSCOPE_IMAGE_DEBUG_H

#include <stddef.h>
#include <stdint.h>

struct elffile;
struct target;

/* Symbols that lie outside .symtab and .dynsym, for this folder only. */

/* What names the debug file of an image. */
struct debug_key {
	const uint8_t *build_id;
	size_t build_id_size; /* 0: none, .gnu_debuglink is used */
	const char *path;     /* of the image, as the target sees it */
};

/*
 * Opens the debug file of an image: below .build-id or where .gnu_debuglink says, first as the
 * target sees it, then on the host. Returns 0 or -ENOENT. On error *out is untouched.
 */
int image_debug_open(const struct target *t, const struct elffile *file,
		     const struct debug_key *key, struct elffile *out);

/* Unpacks .gnu_debugdata. Returns 0, -ENOENT, -ENOEXEC, -ENOMEM. */
int image_debug_unpack(const struct elffile *file, struct elffile *out);

/* The GNU build id, cut at size bytes. Returns how many there are, 0: none. */
size_t image_debug_build_id(const struct elffile *file, uint8_t *id, size_t size);

#endif
