/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout.h"

#include <errno.h>

#include "base/log.h"
#include "jvm/vmstructs.h"
#include "target/target.h"

#define NAMES_MAX  3
#define OFFSET_MAX 65536 /* of a field; 2,000 in JavaThread is the largest used */

enum need {
	NEEDED,	  /* without it Java frames cannot be unwound or named */
	OPTIONAL, /* of some JDKs only, or worth less */
	UNLESS,	  /* needed when the row before it found nothing */
};

/* A member of struct fields, and its names in the order they are tried. */
struct rule {
	size_t member;
	enum need need;
	const char *names[NAMES_MAX];
};

#define AT(member) offsetof(struct fields, member)

static const struct rule rules[] = {
	{ AT(code_heaps), OPTIONAL, { "CodeCache::_heaps" } },
	{ AT(code_heap), UNLESS, { "CodeCache::_heap" } },
	{ AT(array_length), OPTIONAL, { "GrowableArrayBase::_len", "GenericGrowableArray::_len" } },
	{ AT(array_data), OPTIONAL, { "GrowableArray<int>::_data" } },
	{ AT(heap_memory), NEEDED, { "CodeHeap::_memory" } },
	{ AT(heap_segmap), NEEDED, { "CodeHeap::_segmap" } },
	{ AT(heap_segment_shift), NEEDED, { "CodeHeap::_log2_segment_size" } },
	{ AT(space_low_boundary), NEEDED, { "VirtualSpace::_low_boundary" } },
	{ AT(space_high_boundary), NEEDED, { "VirtualSpace::_high_boundary" } },
	{ AT(space_high), NEEDED, { "VirtualSpace::_high" } },
	{ AT(block_length), NEEDED, { "HeapBlock::Header::_length" } },
	{ AT(block_used), NEEDED, { "HeapBlock::Header::_used" } },

	{ AT(blob_name), NEEDED, { "CodeBlob::_name" } },
	{ AT(blob_size), NEEDED, { "CodeBlob::_size" } },
	{ AT(blob_frame_size), NEEDED, { "CodeBlob::_frame_size" } },
	{ AT(blob_frame_complete), NEEDED, { "CodeBlob::_frame_complete_offset" } },
	{ AT(blob_code_begin), OPTIONAL, { "CodeBlob::_code_begin" } },
	{ AT(blob_code_offset), UNLESS, { "CodeBlob::_code_offset" } },
	{ AT(blob_code_end), OPTIONAL, { "CodeBlob::_code_end" } },
	{ AT(blob_data_offset), UNLESS, { "CodeBlob::_data_offset" } },
	{ AT(blob_kind), OPTIONAL, { "CodeBlob::_kind" } },
	{ AT(blob_mutable_data), OPTIONAL, { "CodeBlob::_mutable_data" } },
	{ AT(blob_mutable_data_size), OPTIONAL, { "CodeBlob::_mutable_data_size" } },
	{ AT(blob_relocation_size), OPTIONAL, { "CodeBlob::_relocation_size" } },

	{ AT(nmethod_method), NEEDED, { "nmethod::_method" } },
	{ AT(nmethod_compile_id), NEEDED, { "nmethod::_compile_id" } },
	{ AT(nmethod_level), NEEDED, { "nmethod::_comp_level" } },
	{ AT(nmethod_orig_pc), NEEDED, { "nmethod::_orig_pc_offset" } },
	{ AT(nmethod_deopt_begin), OPTIONAL, { "nmethod::_deopt_handler_begin" } },
	{ AT(nmethod_deopt_offset),
	  UNLESS,
	  { "nmethod::_deopt_handler_offset", "nmethod::_deopt_handler_entry_offset",
	    "nmethod::_deoptimize_offset" } },
	{ AT(nmethod_deopt_mh_begin), OPTIONAL, { "nmethod::_deopt_mh_handler_begin" } },
	{ AT(nmethod_deopt_mh_offset),
	  OPTIONAL,
	  { "nmethod::_deopt_mh_handler_offset", "nmethod::_deoptimize_mh_offset" } },
	{ AT(nmethod_verified_entry), OPTIONAL, { "nmethod::_verified_entry_point" } },
	{ AT(nmethod_verified_entry_offset), UNLESS, { "nmethod::_verified_entry_offset" } },
	{ AT(nmethod_metadata_offset), OPTIONAL, { "nmethod::_metadata_offset" } },
	{ AT(nmethod_scopes_begin), OPTIONAL, { "nmethod::_scopes_data_begin" } },
	{ AT(nmethod_scopes_offset), UNLESS, { "nmethod::_scopes_data_offset" } },
	{ AT(nmethod_pcs_offset), NEEDED, { "nmethod::_scopes_pcs_offset" } },
	{ AT(nmethod_immutable_data), OPTIONAL, { "nmethod::_immutable_data" } },
	{ AT(nmethod_dependencies_offset), UNLESS, { "nmethod::_dependencies_offset" } },
	{ AT(nmethod_immutable_data_size), OPTIONAL, { "nmethod::_immutable_data_size" } },

	{ AT(method_const_method), NEEDED, { "Method::_constMethod" } },
	{ AT(method_access_flags), NEEDED, { "Method::_access_flags" } },
	{ AT(const_method_constants), NEEDED, { "ConstMethod::_constants" } },
	{ AT(const_method_size), NEEDED, { "ConstMethod::_constMethod_size" } },
	{ AT(const_method_code_size), NEEDED, { "ConstMethod::_code_size" } },
	{ AT(const_method_flags), NEEDED, { "ConstMethod::_flags", "ConstMethod::_flags._flags" } },
	{ AT(const_method_name), NEEDED, { "ConstMethod::_name_index" } },
	{ AT(const_method_signature), NEEDED, { "ConstMethod::_signature_index" } },
	{ AT(pool_holder), NEEDED, { "ConstantPool::_pool_holder" } },
	{ AT(pool_length), NEEDED, { "ConstantPool::_length" } },
	{ AT(pool_source_file), OPTIONAL, { "ConstantPool::_source_file_name_index" } },
	{ AT(klass_source_file), OPTIONAL, { "InstanceKlass::_source_file_name_index" } },
	{ AT(klass_constants), NEEDED, { "InstanceKlass::_constants" } },
	{ AT(klass_name), NEEDED, { "InstanceKlass::_name" } },
	{ AT(klass_layout_helper), OPTIONAL, { "Klass::_layout_helper" } },
	{ AT(klass_loader), OPTIONAL, { "Klass::_class_loader_data" } },
	{ AT(loader_head), OPTIONAL, { "ClassLoaderDataGraph::_head" } },
	{ AT(loader_next), OPTIONAL, { "ClassLoaderData::_next" } },
	{ AT(archive_base),
	  OPTIONAL,
	  { "MetaspaceObj::_shared_metaspace_base", "MetaspaceObj::_aot_metaspace_base" } },
	{ AT(archive_top),
	  OPTIONAL,
	  { "MetaspaceObj::_shared_metaspace_top", "MetaspaceObj::_aot_metaspace_top" } },
	{ AT(symbol_length), OPTIONAL, { "Symbol::_length" } },
	{ AT(symbol_length_and_refcount), UNLESS, { "Symbol::_length_and_refcount" } },
	{ AT(symbol_body), NEEDED, { "Symbol::_body", "Symbol::_body[0]" } },

	{ AT(thread_list), OPTIONAL, { "ThreadsSMRSupport::_java_thread_list" } },
	{ AT(threads_length), OPTIONAL, { "ThreadsList::_length" } },
	{ AT(threads_array), OPTIONAL, { "ThreadsList::_threads" } },
	{ AT(first_thread), OPTIONAL, { "Threads::_thread_list" } },
	{ AT(thread_next), OPTIONAL, { "JavaThread::_next" } },
	{ AT(thread_anchor), NEEDED, { "JavaThread::_anchor" } },
	{ AT(thread_state), NEEDED, { "JavaThread::_thread_state" } },
	{ AT(thread_saved_pc), OPTIONAL, { "JavaThread::_saved_exception_pc" } },
	{ AT(thread_allocated), OPTIONAL, { "Thread::_allocated_bytes" } },
	{ AT(thread_tlab), OPTIONAL, { "Thread::_tlab" } },
	{ AT(tlab_start), OPTIONAL, { "ThreadLocalAllocBuffer::_start" } },
	{ AT(tlab_top), OPTIONAL, { "ThreadLocalAllocBuffer::_top" } },
	{ AT(thread_os_thread), NEEDED, { "JavaThread::_osthread" } },
	{ AT(monitor_waiters), OPTIONAL, { "ObjectMonitor::_waiters" } },
	{ AT(os_thread_id), NEEDED, { "OSThread::_thread_id" } },
	{ AT(anchor_sp), NEEDED, { "JavaFrameAnchor::_last_Java_sp" } },
	{ AT(anchor_pc), NEEDED, { "JavaFrameAnchor::_last_Java_pc" } },
	{ AT(anchor_fp), NEEDED, { "JavaFrameAnchor::_last_Java_fp" } },
	{ AT(wrapper_anchor), OPTIONAL, { "JavaCallWrapper::_anchor" } },
	{ AT(thread_cont_entry), OPTIONAL, { "JavaThread::_cont_entry" } },
	{ AT(cont_return_pc), OPTIONAL, { "ContinuationEntry::_return_pc" } },

	{ AT(call_stub_return), NEEDED, { "StubRoutines::_call_stub_return_address" } },
	{ AT(interpreter_code), NEEDED, { "AbstractInterpreter::_code" } },
	{ AT(queue_buffer), NEEDED, { "StubQueue::_stub_buffer" } },
	{ AT(queue_limit), NEEDED, { "StubQueue::_buffer_limit" } },
	{ AT(queue_end), NEEDED, { "StubQueue::_queue_end" } },
	{ AT(codelet_size), NEEDED, { "InterpreterCodelet::_size" } },
	{ AT(codelet_description), NEEDED, { "InterpreterCodelet::_description" } },

	{ AT(collected_heap), OPTIONAL, { "Universe::_collectedHeap" } },
	{ AT(total_collections), OPTIONAL, { "CollectedHeap::_total_collections" } },

	{ AT(vm_release), OPTIONAL, { "Abstract_VM_Version::_s_vm_release" } },
	{ AT(vm_info_string), OPTIONAL, { "Abstract_VM_Version::_s_internal_vm_info_string" } },
	{ AT(jdk_version), OPTIONAL, { "JDK_Version::_current" } },
	{ AT(vm_major), UNLESS, { "Abstract_VM_Version::_vm_major_version" } },
	{ AT(flags), OPTIONAL, { "JVMFlag::flags", "Flag::flags" } },
	{ AT(flag_count), OPTIONAL, { "JVMFlag::numFlags", "Flag::numFlags" } },
	{ AT(flag_name), OPTIONAL, { "JVMFlag::_name", "Flag::_name" } },
	{ AT(flag_address), OPTIONAL, { "JVMFlag::_addr", "Flag::_addr" } },
	{ AT(flag_bits), OPTIONAL, { "JVMFlag::_flags", "Flag::_flags" } },
	{ AT(flag_type), OPTIONAL, { "JVMFlag::_type", "Flag::_type" } },

	{ AT(thread_object), OPTIONAL, { "JavaThread::_threadObj" } },
	{ AT(thread_klass),
	  OPTIONAL,
	  { "vmClasses::_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]",
	    "SystemDictionary::_well_known_klasses[SystemDictionary::Thread_klass_knum]" } },
	{ AT(string_klass),
	  OPTIONAL,
	  { "vmClasses::_klasses[static_cast<int>(vmClassID::String_klass_knum)]",
	    "SystemDictionary::_well_known_klasses[SystemDictionary::String_klass_knum]" } },
	{ AT(klass_fields), OPTIONAL, { "InstanceKlass::_fields" } },
	{ AT(klass_field_count), OPTIONAL, { "InstanceKlass::_java_fields_count" } },
	{ AT(klass_field_stream), OPTIONAL, { "InstanceKlass::_fieldinfo_stream" } },
	{ AT(narrow_base),
	  OPTIONAL,
	  { "CompressedOops::_base", "CompressedOops::_narrow_oop._base",
	    "Universe::_narrow_oop._base" } },
	{ AT(narrow_shift),
	  OPTIONAL,
	  { "CompressedOops::_shift", "CompressedOops::_narrow_oop._shift",
	    "Universe::_narrow_oop._shift" } },
	{ AT(narrow_klass_base),
	  OPTIONAL,
	  { "CompressedKlassPointers::_base", "CompressedKlassPointers::_narrow_klass._base",
	    "Universe::_narrow_klass._base" } },
	{ AT(narrow_klass_shift),
	  OPTIONAL,
	  { "CompressedKlassPointers::_shift", "CompressedKlassPointers::_narrow_klass._shift",
	    "Universe::_narrow_klass._shift" } },
	{ AT(z_globals), OPTIONAL, { "ZGlobalsForVMStructs::_instance_p" } },
	{ AT(z_bad_mask),
	  OPTIONAL,
	  { "ZGlobalsForVMStructs::_ZPointerLoadBadMask",
	    "ZGlobalsForVMStructs::_ZAddressBadMask" } },
	{ AT(z_good_mask),
	  OPTIONAL,
	  { "ZGlobalsForVMStructs::_ZPointerLoadGoodMask",
	    "ZGlobalsForVMStructs::_ZAddressGoodMask" } },
	{ AT(z_offset_mask), OPTIONAL, { "ZGlobalsForVMStructs::_ZAddressOffsetMask" } },
	{ AT(z_load_shift), OPTIONAL, { "ZGlobalsForVMStructs::_ZPointerLoadShift" } },

	{ AT(task_method), OPTIONAL, { "CompileTask::_method" } },
	{ AT(task_id), OPTIONAL, { "CompileTask::_compile_id" } },
	{ AT(task_level), OPTIONAL, { "CompileTask::_comp_level" } },
	{ AT(task_osr_bci), OPTIONAL, { "CompileTask::_osr_bci" } },
	{ AT(task_inlined), OPTIONAL, { "CompileTask::_num_inlined_bytecodes" } },
	{ AT(nmethod_consts_offset), OPTIONAL, { "nmethod::_consts_offset" } },
	{ AT(nmethod_oops_offset), OPTIONAL, { "nmethod::_oops_offset" } },
	{ AT(nmethod_handlers_offset), OPTIONAL, { "nmethod::_handler_table_offset" } },
	{ AT(nmethod_end_offset), OPTIONAL, { "nmethod::_nmethod_end_offset" } },

	{ AT(java_command), OPTIONAL, { "Arguments::_java_command" } },
	{ AT(jvm_args), OPTIONAL, { "Arguments::_jvm_args_array" } },
	{ AT(jvm_arg_count), OPTIONAL, { "Arguments::_num_jvm_args" } },
};
#undef AT

/* C types of the tables; pointers and addresses are told by their look. */
static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} ctypes[] = {
	{ "int", 4, true },
	{ "jint", 4, true },
	{ "int32_t", 4, true },
	{ "short", 2, true },
	{ "int16_t", 2, true },
	{ "jbyte", 1, true },
	{ "signed char", 1, true },
	{ "long", 8, true },
	{ "jlong", 8, true },
	{ "uint", 4, false },
	{ "unsigned int", 4, false },
	{ "uint32_t", 4, false },
	{ "u4", 4, false },
	{ "unsigned short", 2, false },
	{ "uint16_t", 2, false },
	{ "u2", 2, false },
	{ "unsigned char", 1, false },
	{ "u1", 1, false },
	{ "bool", 1, false },
	{ "size_t", 8, false },
	{ "uint64_t", 8, false },
	{ "address", 8, false },
};

/* Names without the qualifiers some of them carry: "volatile int", "const uint". */
static const char *without_qualifiers(const char *ctype)
{
	static const char *const qualifiers[] = { "volatile ", "const " };

	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		if (!strncmp(ctype, qualifiers[i], strlen(qualifiers[i])))
			ctype += strlen(qualifiers[i]);
	}
	return ctype;
}

/* Width by type string. Enums (CompLevel, AccessFlags) differ by JDK: the JVM says their size. */
static void set_width(const struct vmstructs *vm, const char *ctype, struct field *field)
{
	const struct vm_type *type;

	ctype = without_qualifiers(ctype);
	field->size = 8;
	if (!*ctype || strchr(ctype, '*'))
		return;
	for (size_t i = 0; i < sizeof(ctypes) / sizeof(*ctypes); i++) {
		if (strcmp(ctype, ctypes[i].name) != 0)
			continue;
		field->size = ctypes[i].size;
		field->is_signed = ctypes[i].is_signed;
		return;
	}
	type = vmstructs_type(vm, ctype);
	field->size = type && (type->size == 1 || type->size == 2 || type->size == 8)
			      ? (uint8_t)type->size
			      : 4;
}

static bool find_field(const struct vmstructs *vm, const struct rule *rule, struct field *field)
{
	const struct vm_field *found = NULL;

	for (size_t i = 0; i < NAMES_MAX && rule->names[i] && !found; i++)
		found = vmstructs_field(vm, rule->names[i]);
	if (!found || (!found->is_static && found->at > OFFSET_MAX))
		return false;
	field->at = found->at;
	set_width(vm, found->ctype, field);
	return true;
}

static int missing(pid_t pid, const char *name)
{
	log_warn("pid %d: its libjvm has no %s that can be used: no Java frames of this process",
		 (int)pid, name);
	return -EPROTO;
}

static int find_fields(const struct vmstructs *vm, pid_t pid, struct fields *out)
{
	bool found = true, before;
	struct field *field;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		field = (struct field *)((char *)out + rules[i].member);
		before = found;
		found = find_field(vm, &rules[i], field);
		if (!found && (rules[i].need == NEEDED || (rules[i].need == UNLESS && !before)))
			return missing(pid, rules[i].names[0]);
	}
	return 0;
}

/* What one alternative needs beside itself. */
static int check_pairs(const struct fields *f, pid_t pid)
{
	if (field_exists(f->code_heaps) && !field_exists(f->array_length))
		return missing(pid, "GrowableArrayBase::_len");
	if (field_exists(f->code_heaps) && !field_exists(f->array_data))
		return missing(pid, "GrowableArray<int>::_data");
	if (field_exists(f->nmethod_immutable_data) && !field_exists(f->nmethod_scopes_offset))
		return missing(pid, "nmethod::_scopes_data_offset");
	if (field_exists(f->nmethod_immutable_data) &&
	    !field_exists(f->nmethod_immutable_data_size))
		return missing(pid, "nmethod::_immutable_data_size");
	if (field_exists(f->blob_mutable_data) && !field_exists(f->blob_relocation_size))
		return missing(pid, "CodeBlob::_relocation_size");
	if (field_exists(f->blob_mutable_data) && !field_exists(f->blob_mutable_data_size))
		return missing(pid, "CodeBlob::_mutable_data_size");
	if (!field_exists(f->blob_mutable_data) && !field_exists(f->nmethod_metadata_offset))
		return missing(pid, "nmethod::_metadata_offset");
	if (field_exists(f->blob_code_begin) != field_exists(f->blob_code_end))
		return missing(pid, "CodeBlob::_code_begin beside _code_end");
	return 0;
}

static uint32_t type_bytes(const struct vmstructs *vm, const char *name, uint32_t max)
{
	const struct vm_type *type = vmstructs_type(vm, name);

	return type && type->size <= max ? (uint32_t)type->size : 0;
}

/* Sizes larger than any seen by far are refused: they bound what is read later. */
static int find_sizes(const struct vmstructs *vm, pid_t pid, struct hotspot *h)
{
	h->heap_block_size = type_bytes(vm, "HeapBlock", 64);
	if (!h->heap_block_size)
		return missing(pid, "type HeapBlock");
	h->const_method_bytes = type_bytes(vm, "ConstMethod", 256);
	if (!h->const_method_bytes)
		return missing(pid, "type ConstMethod");
	h->constant_pool_bytes = type_bytes(vm, "ConstantPool", 256);
	if (!h->constant_pool_bytes)
		return missing(pid, "type ConstantPool");
	h->flag_bytes = type_bytes(vm, "JVMFlag", 64);
	if (!h->flag_bytes)
		h->flag_bytes = type_bytes(vm, "Flag", 64);
	h->cont_entry_bytes = type_bytes(vm, "ContinuationEntry", 1024);
	return 0;
}

/*
 * Kinds that BPF cannot tell by the name of the blob as cheaply. Nmethod and Buffer stay OTHER, so
 * that the name decides: "nmethod" or "native nmethod", "Interpreter", "StubRoutines ...".
 */
static const struct {
	const char *constant;
	enum jvs_blob_kind kind;
} kinds[] = {
	{ "CodeBlobKind::Adapter", JVS_BLOB_ADAPTER },
	{ "CodeBlobKind::Vtable", JVS_BLOB_VTABLE },
	{ "CodeBlobKind::MHAdapter", JVS_BLOB_VTABLE }, /* also: return address at [sp] */
	{ "CodeBlobKind::Deoptimization", JVS_BLOB_DEOPT },
	{ "CodeBlobKind::UncommonTrap", JVS_BLOB_DEOPT }, /* it deoptimizes, too */
};

/* The numbers of JDK 8 to 27, which everything that records states goes by. */
static const struct {
	const char *constant;
	uint8_t state;
} states[] = {
	{ "_thread_new", 2 },	  { "_thread_in_native", 4 }, { "_thread_in_vm", 6 },
	{ "_thread_in_Java", 8 }, { "_thread_blocked", 10 },
};

/* Where the states have those numbers, also those between two states do. */
static void find_states(const struct vmstructs *vm, struct hotspot *h)
{
	int64_t value;

	for (size_t i = 0; i < sizeof(h->state_of); i++)
		h->state_of[i] = (uint8_t)i;
	if (!vmstructs_constant(vm, "_thread_in_Java", &value) || value == 8)
		return;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		if (vmstructs_constant(vm, states[i].constant, &value) && value > 0 &&
		    value < (int64_t)sizeof(h->state_of))
			h->state_of[value] = states[i].state;
	}
}

/*
 * FieldInfo: bits of its flags, by which initial value, generic signature, contended group, layout
 * and null marker follow.
 */
static const char *const field_flags[] = {
	"FieldInfo::FieldFlags::_ff_initialized", "FieldInfo::FieldFlags::_ff_generic",
	"FieldInfo::FieldFlags::_ff_contended",	  "FieldInfo::FieldFlags::_ff_flat",
	"FieldInfo::FieldFlags::_ff_null_marker",
};

static uint32_t find_field_numbers(const struct vmstructs *vm)
{
	uint32_t mask = 0;
	int64_t bit;

	for (size_t i = 0; i < sizeof(field_flags) / sizeof(*field_flags); i++)
		if (vmstructs_constant(vm, field_flags[i], &bit) && bit >= 0 && bit < 32)
			mask |= 1u << bit;
	return mask;
}

static void find_constants(const struct vmstructs *vm, struct hotspot *h)
{
	int64_t value;

	h->line_table_bit = 1;
	h->field_numbers = find_field_numbers(vm);
	if ((vmstructs_constant(vm, "ConstMethodFlags::_misc_has_linenumber_table", &value) ||
	     vmstructs_constant(vm, "ConstMethod::_has_linenumber_table", &value)) &&
	    value > 0 && value <= UINT32_MAX)
		h->line_table_bit = (uint32_t)value;
	if (vmstructs_constant(vm, "frame::entry_frame_call_wrapper_offset", &value) &&
	    value >= -64 && value <= 64)
		h->call_wrapper = (int32_t)value;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (vmstructs_constant(vm, kinds[i].constant, &value) && value > 0 &&
		    value < (int64_t)sizeof(h->kind_of))
			h->kind_of[value] = (uint8_t)kinds[i].kind;
	}
}

/* The bytes from the start of a structure that hold all of these fields. */
static uint32_t span(const struct field *first, const struct field *last)
{
	uint64_t end = 0;

	for (const struct field *f = first; f <= last; f++) {
		if (field_exists(*f) && f->at + f->size > end)
			end = f->at + f->size;
	}
	return end <= UINT32_MAX ? (uint32_t)end : UINT32_MAX;
}

static int find_spans(pid_t pid, struct hotspot *h)
{
	const struct fields *f = &h->field;

	h->blob_header = span(&f->blob_name, &f->blob_relocation_size);
	h->nmethod_header = span(&f->blob_name, &f->nmethod_immutable_data_size);
	if (h->nmethod_header > JVS_BLOB_HEADER_MAX)
		return missing(pid, "nmethod that is small enough");
	if (span(&f->method_const_method, &f->method_access_flags) > 256 ||
	    span(&f->const_method_constants, &f->const_method_signature) > h->const_method_bytes ||
	    span(&f->pool_holder, &f->pool_source_file) > h->constant_pool_bytes ||
	    span(&f->klass_source_file, &f->klass_name) > 1024)
		return missing(pid, "Method or class that is small enough");
	if (span(&f->thread_anchor, &f->thread_os_thread) > 16384)
		return missing(pid, "JavaThread that is small enough");
	return 0;
}

int layout_read(const struct vmstructs *vm, pid_t pid, struct hotspot *out)
{
	struct hotspot h = { 0 };
	int err;

	err = find_fields(vm, pid, &h.field);
	if (!err)
		err = check_pairs(&h.field, pid);
	if (!err)
		err = find_sizes(vm, pid, &h);
	if (!err)
		err = find_spans(pid, &h);
	if (err)
		return err;
	find_constants(vm, &h);
	find_states(vm, &h);
	*out = h;
	return 0;
}

static uint32_t offset_or_none(struct field f)
{
	return field_exists(f) ? (uint32_t)f.at : JVS_NO_FIELD;
}

static void blob_for_bpf(const struct fields *f, struct jvs_java_layout *out)
{
	out->code_is_offset = !field_exists(f->blob_code_begin);
	out->deopt_is_offset = !field_exists(f->nmethod_deopt_begin);
	out->verified_entry_is_offset = !field_exists(f->nmethod_verified_entry);

	out->heap_block_used = (uint32_t)f->block_used.at;
	out->blob_name = (uint32_t)f->blob_name.at;
	out->blob_frame_size = (uint32_t)f->blob_frame_size.at;
	out->blob_frame_complete = (uint32_t)f->blob_frame_complete.at;
	out->frame_complete_is_16bit = f->blob_frame_complete.size == 2;
	out->blob_code_begin =
		(uint32_t)(out->code_is_offset ? f->blob_code_offset : f->blob_code_begin).at;
	out->blob_code_end =
		(uint32_t)(out->code_is_offset ? f->blob_data_offset : f->blob_code_end).at;
	out->blob_kind = offset_or_none(f->blob_kind);

	out->nmethod_deopt =
		(uint32_t)(out->deopt_is_offset ? f->nmethod_deopt_offset : f->nmethod_deopt_begin)
			.at;
	out->nmethod_deopt_mh = offset_or_none(out->deopt_is_offset ? f->nmethod_deopt_mh_offset
								    : f->nmethod_deopt_mh_begin);
	out->nmethod_compile_id = (uint32_t)f->nmethod_compile_id.at;
	out->nmethod_orig_pc = (uint32_t)f->nmethod_orig_pc.at;
	out->nmethod_verified_entry =
		(uint32_t)(out->verified_entry_is_offset ? f->nmethod_verified_entry_offset
							 : f->nmethod_verified_entry)
			.at;
}

void layout_for_bpf(const struct hotspot *h, int major, struct jvs_java_layout *out)
{
	const struct fields *f = &h->field;

	out->heap_block_size = h->heap_block_size;
	blob_for_bpf(f, out);
	memcpy(out->kind_of, h->kind_of, sizeof(out->kind_of));

	out->method_const_method = (uint32_t)f->method_const_method.at;
	out->const_method_constants = (uint32_t)f->const_method_constants.at;
	out->pool_holder = (uint32_t)f->pool_holder.at;
	out->klass_constants = (uint32_t)f->klass_constants.at;
	out->klass_name = (uint32_t)f->klass_name.at;
	out->const_method_size = h->const_method_bytes;
	out->const_method_code_size = (uint32_t)f->const_method_code_size.at;
	out->interpreter_bcp = major >= 9 ? LAYOUT_BCP : LAYOUT_BCP_8;

	out->thread_anchor_sp = (uint32_t)(f->thread_anchor.at + f->anchor_sp.at);
	out->thread_anchor_pc = (uint32_t)(f->thread_anchor.at + f->anchor_pc.at);
	out->thread_anchor_fp = (uint32_t)(f->thread_anchor.at + f->anchor_fp.at);
	out->thread_state = (uint32_t)f->thread_state.at;
	if (field_exists(f->thread_saved_pc))
		out->thread_saved_pc = (uint32_t)f->thread_saved_pc.at;
	if (field_exists(f->wrapper_anchor)) {
		out->call_wrapper = h->call_wrapper;
		out->wrapper_anchor_sp = (uint32_t)(f->wrapper_anchor.at + f->anchor_sp.at);
	}
	if (field_exists(f->thread_cont_entry)) {
		out->thread_cont_entry = (uint32_t)f->thread_cont_entry.at;
		out->cont_entry_size = h->cont_entry_bytes;
	}
}

int field_read(const struct target *t, uint64_t base, struct field f, uint64_t *out)
{
	uint8_t bytes[8] = { 0 };
	int err;

	if (!field_exists(f))
		return -EBADMSG;
	err = target_read(t, base + f.at, bytes, f.size);
	if (err)
		return err;
	f.at = 0;
	*out = field_of(f, bytes, sizeof(bytes));
	return 0;
}
