/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_LAYOUT_H
#define JVMSCOPE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "bpf/jvs_abi.h"

struct target;
struct vmstructs;

/*
 * Where HotSpot's structures keep what we read, on JDK 8 to 28.
 *
 * What a JVM has is asked by name ("does the field exist"), never by version. Only two things
 * cannot be asked: the bias of UNSIGNED5 numbers and the interpreter's bcp slot.
 */

struct field {
	uint64_t at;  /* offset in its structure, or the address of a static one */
	uint8_t size; /* bytes; 0: this JVM has no such field */
	bool is_signed;
};

/*
 * Where an interpreter frame keeps the bytecode pointer, words from its fp; nothing exports it.
 * Since 9 the mirror has a slot of its own above it. arm64 was not run.
 */
#ifdef __aarch64__
#define LAYOUT_BCP   (-9)
#define LAYOUT_BCP_8 (-7)
#else
#define LAYOUT_BCP   (-8)
#define LAYOUT_BCP_8 (-7)
#endif

/* Fields that stand for one another are side by side; layout.c has the rules. */
struct fields {
	/* code cache */
	struct field code_heaps; /* static, GrowableArray<CodeHeap*>*, 9+ */
	struct field code_heap;	 /* static, CodeHeap*, 8 */
	struct field array_length;
	struct field array_data;
	struct field heap_memory; /* VirtualSpace */
	struct field heap_segmap; /* VirtualSpace */
	struct field heap_segment_shift;
	struct field space_low_boundary;
	struct field space_high_boundary;
	struct field space_high;
	struct field block_length; /* segments */
	struct field block_used;

	/* CodeBlob */
	struct field blob_name;
	struct field blob_size;
	struct field blob_frame_size;
	struct field blob_frame_complete;
	struct field blob_code_begin;  /* pointer, 9 to 22 */
	struct field blob_code_offset; /* int, 8 and 23+ */
	struct field blob_code_end;    /* pointer, 9 to 22 */
	struct field blob_data_offset; /* int: the code ends there */
	struct field blob_kind;
	struct field blob_mutable_data;	     /* 25+ */
	struct field blob_mutable_data_size; /* 25+ */
	struct field blob_relocation_size;   /* 8 and 25+ */

	/* nmethod */
	struct field nmethod_method;
	struct field nmethod_compile_id;
	struct field nmethod_level;
	struct field nmethod_orig_pc;
	struct field nmethod_deopt_begin;     /* pointer, 9 to 22 */
	struct field nmethod_deopt_offset;    /* int, 8 and 23+ */
	struct field nmethod_deopt_mh_begin;  /* pointer, 9 to 22 */
	struct field nmethod_deopt_mh_offset; /* int, 8 and 23 to 25 */
	struct field nmethod_verified_entry;
	struct field nmethod_verified_entry_offset; /* u2, 23+ */
	struct field nmethod_metadata_offset;
	struct field nmethod_scopes_begin;  /* pointer, 9 to 22 */
	struct field nmethod_scopes_offset; /* int, 8 and 23+ */
	struct field nmethod_pcs_offset;
	struct field nmethod_dependencies_offset; /* end of the PcDescs, 8 to 22 */
	struct field nmethod_immutable_data;	  /* 23+ */
	struct field nmethod_immutable_data_size; /* 23+ */

	/* methods and classes */
	struct field method_const_method;
	struct field method_access_flags;
	struct field const_method_constants;
	struct field const_method_size; /* words */
	struct field const_method_code_size;
	struct field const_method_flags;
	struct field const_method_name;
	struct field const_method_signature;
	struct field pool_holder;
	struct field pool_length;
	struct field pool_source_file; /* 15+ */
	struct field klass_source_file;
	struct field klass_constants;
	struct field klass_name;
	struct field klass_layout_helper; /* int, below 0 for arrays */
	struct field klass_loader;	  /* ClassLoaderData* */
	struct field loader_head;	  /* static, ClassLoaderData*, 9+ */
	struct field loader_next;
	struct field archive_base; /* static, of the classes in the CDS archive, 17+ */
	struct field archive_top;  /* static */
	struct field symbol_length;
	struct field symbol_length_and_refcount; /* length in the upper half, 12 to 14 */
	struct field symbol_body;

	/* threads */
	struct field thread_list; /* static, ThreadsList*, 12+ */
	struct field threads_length;
	struct field threads_array;
	struct field first_thread; /* static, JavaThread*, 8 to 11 */
	struct field thread_next;
	struct field thread_anchor;
	struct field thread_state;
	struct field thread_saved_pc;
	struct field thread_allocated; /* bytes in the Java heap */
	struct field thread_tlab;
	struct field tlab_start;
	struct field tlab_top;
	struct field thread_os_thread;
	struct field monitor_waiters;
	struct field os_thread_id;
	struct field anchor_sp;
	struct field anchor_pc;
	struct field anchor_fp;
	struct field wrapper_anchor;
	struct field thread_object;	/* a reference (8 to 15), or an OopHandle */
	struct field thread_cont_entry; /* 21+ */
	struct field cont_return_pc;	/* static, 21+ */

	/* stubs and interpreter */
	struct field call_stub_return; /* static */
	struct field interpreter_code; /* static, StubQueue* */
	struct field queue_buffer;
	struct field queue_limit;
	struct field queue_end;
	struct field codelet_size;
	struct field codelet_description;

	/* version and flags */
	struct field collected_heap;	/* static, CollectedHeap* */
	struct field total_collections; /* in it; counts on */

	struct field vm_release;     /* static, char* */
	struct field vm_info_string; /* static, char* */
	struct field vm_major;	     /* static, int; the JDK's from 9 on */
	struct field jdk_version;    /* static, the first byte is the major number; 8 to 21 */
	struct field flags;	     /* static, array */
	struct field flag_count;     /* static */
	struct field flag_name;
	struct field flag_address;
	struct field flag_bits; /* where it comes from */
	struct field flag_type; /* int, or char* to 11 */

	/* the Java heap */
	struct field thread_klass;	 /* static, of java.lang.Thread */
	struct field string_klass;	 /* static, of java.lang.String */
	struct field klass_fields;	 /* Array<u2>*, 8 to 20 */
	struct field klass_field_count;	 /* 8 to 20 */
	struct field klass_field_stream; /* Array<u1>*, 21+ */
	struct field narrow_base;	 /* static */
	struct field narrow_shift;	 /* static */
	struct field narrow_klass_base;	 /* static */
	struct field narrow_klass_shift; /* static */
	struct field z_globals;		 /* static, the members point to variables */
	struct field z_bad_mask;
	struct field z_good_mask;
	struct field z_offset_mask;
	struct field z_load_shift; /* 21+ */

	/* CompileTask */
	struct field task_method;
	struct field task_id;
	struct field task_level;
	struct field task_osr_bci;
	struct field task_inlined;
	struct field nmethod_consts_offset; /* these up to JDK 22 */
	struct field nmethod_oops_offset;
	struct field nmethod_handlers_offset;
	struct field nmethod_end_offset;

	/* how it was started */
	struct field java_command;  /* static, char*: main class and its arguments */
	struct field jvm_args;	    /* static, char**: options, in order */
	struct field jvm_arg_count; /* static, int */
};

/* What one JVM has. */
struct hotspot {
	struct fields field;
	uint32_t heap_block_size; /* sizeof(HeapBlock) */
	uint32_t const_method_bytes;
	uint32_t constant_pool_bytes;
	uint32_t flag_bytes; /* 0: no flags */
	uint32_t line_table_bit;
	uint32_t blob_header;	   /* bytes of a CodeBlob that hold all its fields above */
	uint32_t nmethod_header;   /* the same of an nmethod */
	uint32_t cont_entry_bytes; /* sizeof(ContinuationEntry), 0 before 21 */
	int32_t call_wrapper;	   /* words; 0: not exported */
	uint32_t field_numbers;	   /* flags of a Java field that stand for one more number each */
	uint8_t kind_of[16];	   /* CodeBlobKind to enum jvs_blob_kind */
	uint8_t state_of[16];	   /* JavaThreadState to the numbers of JDK 8 to 27 */
};

/*
 * Looks all fields up. Returns 0, or -EPROTO after one warning that names the field which is
 * missing, or whose place makes no sense, and the process.
 */
int layout_read(const struct vmstructs *vm, pid_t pid, struct hotspot *out);

/* Fills what does not depend on addresses; major is the JDK's feature release. */
void layout_for_bpf(const struct hotspot *h, int major, struct jvs_java_layout *out);

/* A JavaThreadState in the numbers of JDK 8 to 27; see jvm_thread_state. */
static inline uint32_t layout_thread_state(const struct hotspot *h, uint32_t raw)
{
	return raw < sizeof(h->state_of) ? h->state_of[raw] : raw;
}

static inline bool field_exists(struct field f)
{
	return f.size != 0;
}

/* A number from bytes that start where the structure does; 0 when it does not lie within. */
static inline uint64_t field_of(struct field f, const void *bytes, size_t size)
{
	uint64_t value = 0;
	unsigned int unused_bits = 64 - 8u * f.size;

	if (!f.size || size < f.size || f.at > size - f.size)
		return 0;
	memcpy(&value, (const uint8_t *)bytes + f.at, f.size);
	if (f.is_signed && f.size < 8)
		value = (uint64_t)((int64_t)(value << unused_bits) >> unused_bits);
	return value;
}

/* The same from the target, base being the structure's address (0 for static fields). */
int field_read(const struct target *t, uint64_t base, struct field f, uint64_t *out);

#endif
