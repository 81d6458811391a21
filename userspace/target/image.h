/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_IMAGE_H
#define JVMSCOPE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps;
struct mapping;
struct target;

/*
 * One ELF file, or the vDSO: segments, symbols, build id, unwind section.
 *
 * Addresses are ELF virtual addresses unless named otherwise. Opening reads only headers; the
 * symbol table is read at the first look-up by address or name: .symtab, else .gnu_debugdata,
 * else a debug file found by build id or .gnu_debuglink (below the target's root and the
 * host's /usr/lib/debug), always together with .dynsym.
 */
struct image;

#define IMAGE_BUILD_ID_MAX 20

/*
 * Opens the file behind a mapping of the target. "[vdso]" is read from memory.
 * Returns 0, -ENOENT, -EACCES, -ENOEXEC (not a 64-bit ELF file of this machine, or damaged),
 * -ENOMEM. Does not log: one unreadable library is a degraded result, not a failure.
 */
int image_open(const struct target *t, const struct mapping *mapping, struct image **out);

/* The same from bytes (taken over on success: freed by image_close), for tests and fuzzing. */
int image_open_bytes(uint8_t *bytes, size_t size, const char *name, struct image **out);
void image_close(struct image *image);

/* Base name, "libjvm.so" or "[vdso]". */
const char *image_name(const struct image *image);

/* Bytes of the build id, 0 when there is none. id may be NULL. */
size_t image_build_id(const struct image *image, uint8_t id[IMAGE_BUILD_ID_MAX]);

/* ELF virtual address = address in the target - bias, for a mapping of this image. */
uint64_t image_bias(const struct image *image, const struct mapping *mapping);

/* Where its last segment ends in memory, behind data that no file has. 0: nowhere. */
uint64_t image_end(const struct image *image);

/* File offset of a virtual address, for uprobes. -ENOENT when no segment of the file holds it. */
int image_file_offset(const struct image *image, uint64_t vaddr, uint64_t *offset);

/* The bytes at a virtual address up to the end of its segment, or NULL. */
const uint8_t *image_bytes(const struct image *image, uint64_t vaddr, size_t *size);

/* Where PT_GNU_EH_FRAME lies; false when there is none. */
bool image_eh_frame_hdr(const struct image *image, uint64_t *vaddr, size_t *size);

/* Address of a defined symbol. -ENOENT. Only .dynsym is searched when dynamic_only is set (cheap).
 */
int image_symbol(struct image *image, const char *name, bool dynamic_only, uint64_t *vaddr);

/* Its size in bytes; 0 when there is no such symbol or it does not tell. */
uint64_t image_symbol_size(struct image *image, const char *name);

/* The address of a variable, and the size that its symbol has. */
int image_object(struct image *image, const char *name, uint64_t *vaddr, uint64_t *size);

/*
 * The function that holds vaddr: its mangled name, valid as long as the image, and the distance
 * from its start. NULL when no symbol is near. A symbol without size reaches to the next one.
 */
const char *image_function(struct image *image, uint64_t vaddr, uint64_t *offset);

/*
 * Whether calls to vaddr go to a function of this name in another file: whether it is its stub in
 * the procedure linkage table. Known on x86-64, in files with section headers.
 */
bool image_imports(const struct image *image, uint64_t vaddr, const char *name);

/* Whether .symtab (or a debug file, or .gnu_debugdata) was found, or only .dynsym. */
bool image_has_symtab(struct image *image);

/*
 * Demangled C++ or Rust name without parameters ("os::malloc", "Unsafe_AllocateMemory0"), cut
 * at size - 1. The name as it is when it is not mangled. Without what compiler and linker append
 * (".constprop.0", "@@GLIBC_2.2.5"). Returns to.
 */
const char *image_demangle(const char *name, char *to, size_t size);

/* Bytes of memory the image holds, symbols included. */
size_t image_memory(const struct image *image);

#endif
