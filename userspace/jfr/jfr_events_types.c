/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events_impl.h"

/* What fields are made of: primitive types, and structures that are constants or lie in the event.
 */

static const struct jfr_field class[] = {
	{ "classLoader", "Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
	{ "name", "Name", JFR_SYMBOL, JFR_UNIT_NONE },
	{ "package", "Package", JFR_PACKAGE, JFR_UNIT_NONE },
	{ "modifiers", "Access Modifiers", JFR_INT, JFR_UNIT_NONE },
	{ "hidden", "Hidden", JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field thread[] = {
	{ "osName", "OS Thread Name", JFR_STRING, JFR_UNIT_NONE },
	{ "osThreadId", "OS Thread Id", JFR_LONG, JFR_UNIT_NONE },
	{ "javaName", "Java Thread Name", JFR_STRING, JFR_UNIT_NONE },
	{ "javaThreadId", "Java Thread Id", JFR_LONG, JFR_UNIT_NONE },
	{ "group", "Java Thread Group", JFR_THREAD_GROUP, JFR_UNIT_NONE },
	{ "virtual", "Virtual Thread", JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field bytecode[] = {
	{ "bytecode", "Instruction", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field class_loader[] = {
	{ "type", "Type", JFR_CLASS, JFR_UNIT_NONE },
	{ "name", "Name", JFR_SYMBOL, JFR_UNIT_NONE },
};

static const struct jfr_field compiler_phase_type[] = {
	{ "phase", "Phase", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field compiler_type[] = {
	{ "compiler", "Compiler", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field deoptimization_action[] = {
	{ "action", "Action", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field deoptimization_reason[] = {
	{ "reason", "Reason", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field flag_value_origin[] = {
	{ "origin", "Origin", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field frame_type[] = {
	{ "description", "Description", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field gc_cause[] = {
	{ "cause", "Cause", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field gc_name[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field gc_when[] = {
	{ "when", "When", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field inflate_cause[] = {
	{ "cause", "Cause", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field metaspace_sizes[] = {
	{ "committed", "Committed", JFR_LONG, JFR_UNIT_BYTES },
	{ "used", "Used", JFR_LONG, JFR_UNIT_BYTES },
	{ "reserved", "Reserved", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field method[] = {
	{ "type", "Type", JFR_CLASS, JFR_UNIT_NONE },
	{ "name", "Name", JFR_SYMBOL, JFR_UNIT_NONE },
	{ "descriptor", "Descriptor", JFR_SYMBOL, JFR_UNIT_NONE },
	{ "modifiers", "Access Modifiers", JFR_INT, JFR_UNIT_NONE },
	{ "hidden", "Hidden", JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field module[] = {
	{ "name", "Name", JFR_SYMBOL, JFR_UNIT_NONE },
	{ "version", "Version", JFR_SYMBOL, JFR_UNIT_NONE },
	{ "location", "Location", JFR_SYMBOL, JFR_UNIT_NONE },
	{ "classLoader", "Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
};

static const struct jfr_field nmt_type[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field narrow_oop_mode[] = {
	{ "mode", "Mode", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field network_interface_name[] = {
	{ "networkInterface", "Network Interface", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field old_object[] = {
	{ "address", "Memory Address", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "type", "Java Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "description", "Object Description", JFR_STRING, JFR_UNIT_NONE },
	{ "referrer", "Referrer Object", JFR_REFERENCE, JFR_UNIT_NONE },
};

static const struct jfr_field old_object_array[] = {
	{ "size", "Array Size", JFR_INT, JFR_UNIT_NONE },
	{ "index", "Index", JFR_INT, JFR_UNIT_NONE },
};

static const struct jfr_field old_object_field[] = {
	{ "name", "Field", JFR_STRING, JFR_UNIT_NONE },
	{ "modifiers", "Field Modifiers", JFR_SHORT, JFR_UNIT_NONE },
};

static const struct jfr_field old_object_gc_root[] = {
	{ "description", "Root Description", JFR_STRING, JFR_UNIT_NONE },
	{ "system", "System", JFR_OLD_OBJECT_ROOT_SYSTEM, JFR_UNIT_NONE },
	{ "type", "Type", JFR_OLD_OBJECT_ROOT_TYPE, JFR_UNIT_NONE },
};

static const struct jfr_field old_object_root_system[] = {
	{ "system", "System", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field old_object_root_type[] = {
	{ "type", "Type", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field package[] = {
	{ "name", "Name", JFR_SYMBOL, JFR_UNIT_NONE },
	{ "module", "Module", JFR_MODULE, JFR_UNIT_NONE },
	{ "exported", "Exported", JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field reference[] = {
	{ "array", "Array Information", JFR_OLD_OBJECT_ARRAY, JFR_UNIT_NONE },
	{ "field", "Field Information", JFR_OLD_OBJECT_FIELD, JFR_UNIT_NONE },
	{ "object", "Object", JFR_OLD_OBJECT, JFR_UNIT_NONE },
	{ "skip", "Skip Value", JFR_INT, JFR_UNIT_NONE },
};

static const struct jfr_field reference_type[] = {
	{ "type", "Type", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field stack_frame[] = {
	{ "method", "Java Method", JFR_METHOD, JFR_UNIT_NONE },
	{ "lineNumber", "Line Number", JFR_INT, JFR_UNIT_NONE },
	{ "bytecodeIndex", "Bytecode Index", JFR_INT, JFR_UNIT_NONE },
	{ "type", "Frame Type", JFR_FRAME_TYPE, JFR_UNIT_NONE },
};

static const struct jfr_field stack_trace[] = {
	{ "truncated", "Truncated", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "frames", "Stack Frames", JFR_STACK_FRAME, JFR_UNIT_NONE },
};

static const struct jfr_field symbol[] = {
	{ "string", "String", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field thread_group[] = {
	{ "parent", "Parent", JFR_THREAD_GROUP, JFR_UNIT_NONE },
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field thread_state[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field vm_operation_type[] = {
	{ "type", "Type", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field virtual_space[] = {
	{ "start", "Start Address", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "committedEnd", "Committed End Address", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "committedSize", "Committed Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "reservedEnd", "Reserved End Address", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "reservedSize", "Reserved Size", JFR_LONG, JFR_UNIT_BYTES },
};

/*
 * Where a method's source is: the entry with the method's own id. It is not simple, since
 * async-profiler's converter takes the one field of simple types for a string.
 */
static const struct jfr_field source_file[] = {
	{ "file", "File", JFR_SYMBOL, JFR_UNIT_NONE },
};

/* Whether a stack is "broken", which is more than truncated: the entry with the stack's own id. */
static const struct jfr_field stack_state[] = {
	{ "state", "State", JFR_STRING, JFR_UNIT_NONE },
};

/* Of what comes again and again in our events: it is as short as a number. */
static const struct jfr_field name[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
};

/*
 * Frames that are innermost, of a stack that an event has without them: the entry with the id of
 * that stack.
 */
static const struct jfr_field inner_frames[] = {
	{ "frames", NULL, JFR_STACK_FRAME, JFR_UNIT_NONE },
};

const struct jfr_type jfr_field_types[JFR_TYPE_NR] = {
	[JFR_BOOLEAN - JFR_TYPE_FIRST] = { "boolean", NULL, NULL, 0, NULL, 0 },
	[JFR_BYTE - JFR_TYPE_FIRST] = { "byte", NULL, NULL, 0, NULL, 0 },
	[JFR_CHAR - JFR_TYPE_FIRST] = { "char", NULL, NULL, 0, NULL, 0 },
	[JFR_DOUBLE - JFR_TYPE_FIRST] = { "double", NULL, NULL, 0, NULL, 0 },
	[JFR_FLOAT - JFR_TYPE_FIRST] = { "float", NULL, NULL, 0, NULL, 0 },
	[JFR_INT - JFR_TYPE_FIRST] = { "int", NULL, NULL, 0, NULL, 0 },
	[JFR_CLASS - JFR_TYPE_FIRST] = { "java.lang.Class", "Java Class", NULL, JFR_POOL,
					 FIELDS(class) },
	[JFR_STRING - JFR_TYPE_FIRST] = { "java.lang.String", NULL, NULL, 0, NULL, 0 },
	[JFR_THREAD -
		JFR_TYPE_FIRST] = { "java.lang.Thread", "Thread", NULL, JFR_POOL, FIELDS(thread) },
	[JFR_BYTECODE - JFR_TYPE_FIRST] = { "jdk.types.Bytecode", "Bytecode Instruction", NULL,
					    JFR_POOL | JFR_SIMPLE, FIELDS(bytecode) },
	[JFR_CLASS_LOADER - JFR_TYPE_FIRST] = { "jdk.types.ClassLoader", "Java Class Loader", NULL,
						JFR_POOL, FIELDS(class_loader) },
	[JFR_COMPILER_PHASE_TYPE -
		JFR_TYPE_FIRST] = { "jdk.types.CompilerPhaseType", "Compiler Phase Type", NULL,
				    JFR_POOL | JFR_SIMPLE, FIELDS(compiler_phase_type) },
	[JFR_COMPILER_TYPE - JFR_TYPE_FIRST] = { "jdk.types.CompilerType", "Compiler Type", NULL,
						 JFR_POOL | JFR_SIMPLE, FIELDS(compiler_type) },
	[JFR_DEOPTIMIZATION_ACTION -
		JFR_TYPE_FIRST] = { "jdk.types.DeoptimizationAction", "Deoptimization Action", NULL,
				    JFR_POOL | JFR_SIMPLE, FIELDS(deoptimization_action) },
	[JFR_DEOPTIMIZATION_REASON -
		JFR_TYPE_FIRST] = { "jdk.types.DeoptimizationReason", "Deoptimization Reason", NULL,
				    JFR_POOL | JFR_SIMPLE, FIELDS(deoptimization_reason) },
	[JFR_FLAG_VALUE_ORIGIN -
		JFR_TYPE_FIRST] = { "jdk.types.FlagValueOrigin", "Flag Value Origin", NULL,
				    JFR_POOL | JFR_SIMPLE, FIELDS(flag_value_origin) },
	[JFR_FRAME_TYPE - JFR_TYPE_FIRST] = { "jdk.types.FrameType", "Frame type", NULL,
					      JFR_POOL | JFR_SIMPLE, FIELDS(frame_type) },
	[JFR_GC_CAUSE - JFR_TYPE_FIRST] = { "jdk.types.GCCause", "GC Cause", NULL,
					    JFR_POOL | JFR_SIMPLE, FIELDS(gc_cause) },
	[JFR_GC_NAME - JFR_TYPE_FIRST] = { "jdk.types.GCName", "GC Name", NULL,
					   JFR_POOL | JFR_SIMPLE, FIELDS(gc_name) },
	[JFR_GC_WHEN - JFR_TYPE_FIRST] = { "jdk.types.GCWhen", "GC When", NULL,
					   JFR_POOL | JFR_SIMPLE, FIELDS(gc_when) },
	[JFR_INFLATE_CAUSE - JFR_TYPE_FIRST] = { "jdk.types.InflateCause", "Inflation Cause", NULL,
						 JFR_POOL | JFR_SIMPLE, FIELDS(inflate_cause) },
	[JFR_METASPACE_SIZES - JFR_TYPE_FIRST] = { "jdk.types.MetaspaceSizes", NULL, NULL, 0,
						   FIELDS(metaspace_sizes) },
	[JFR_METHOD - JFR_TYPE_FIRST] = { "jdk.types.Method", "Java Method", NULL, JFR_POOL,
					  FIELDS(method) },
	[JFR_MODULE -
		JFR_TYPE_FIRST] = { "jdk.types.Module", "Module", NULL, JFR_POOL, FIELDS(module) },
	[JFR_NMT_TYPE - JFR_TYPE_FIRST] = { "jdk.types.NMTType", "Native Memory Tracking Type",
					    NULL, JFR_POOL | JFR_SIMPLE, FIELDS(nmt_type) },
	[JFR_NARROW_OOP_MODE - JFR_TYPE_FIRST] = { "jdk.types.NarrowOopMode", "Narrow Oop Mode",
						   NULL, JFR_POOL | JFR_SIMPLE,
						   FIELDS(narrow_oop_mode) },
	[JFR_NETWORK_INTERFACE_NAME -
		JFR_TYPE_FIRST] = { "jdk.types.NetworkInterfaceName", "Network Interface", NULL,
				    JFR_POOL | JFR_SIMPLE, FIELDS(network_interface_name) },
	[JFR_OLD_OBJECT - JFR_TYPE_FIRST] = { "jdk.types.OldObject", "Old Object", NULL, JFR_POOL,
					      FIELDS(old_object) },
	[JFR_OLD_OBJECT_ARRAY - JFR_TYPE_FIRST] = { "jdk.types.OldObjectArray", "Old Object Array",
						    NULL, JFR_POOL, FIELDS(old_object_array) },
	[JFR_OLD_OBJECT_FIELD - JFR_TYPE_FIRST] = { "jdk.types.OldObjectField", "Old Object Field",
						    NULL, JFR_POOL, FIELDS(old_object_field) },
	[JFR_OLD_OBJECT_GC_ROOT - JFR_TYPE_FIRST] = { "jdk.types.OldObjectGcRoot", "GC Root", NULL,
						      JFR_POOL, FIELDS(old_object_gc_root) },
	[JFR_OLD_OBJECT_ROOT_SYSTEM -
		JFR_TYPE_FIRST] = { "jdk.types.OldObjectRootSystem", "GC Root System", NULL,
				    JFR_POOL | JFR_SIMPLE, FIELDS(old_object_root_system) },
	[JFR_OLD_OBJECT_ROOT_TYPE - JFR_TYPE_FIRST] = { "jdk.types.OldObjectRootType",
							"GC Root Type", NULL, JFR_POOL | JFR_SIMPLE,
							FIELDS(old_object_root_type) },
	[JFR_PACKAGE - JFR_TYPE_FIRST] = { "jdk.types.Package", "Package", NULL, JFR_POOL,
					   FIELDS(package) },
	[JFR_REFERENCE - JFR_TYPE_FIRST] = { "jdk.types.Reference", "Reference", NULL, JFR_POOL,
					     FIELDS(reference) },
	[JFR_REFERENCE_TYPE - JFR_TYPE_FIRST] = { "jdk.types.ReferenceType", "Reference Type", NULL,
						  JFR_POOL | JFR_SIMPLE, FIELDS(reference_type) },
	[JFR_STACK_FRAME - JFR_TYPE_FIRST] = { "jdk.types.StackFrame", NULL, NULL, JFR_IN_ARRAY,
					       FIELDS(stack_frame) },
	[JFR_STACK_TRACE - JFR_TYPE_FIRST] = { "jdk.types.StackTrace", "Stacktrace", NULL, JFR_POOL,
					       FIELDS(stack_trace) },
	[JFR_SYMBOL - JFR_TYPE_FIRST] = { "jdk.types.Symbol", "Symbol", NULL, JFR_POOL | JFR_SIMPLE,
					  FIELDS(symbol) },
	[JFR_THREAD_GROUP - JFR_TYPE_FIRST] = { "jdk.types.ThreadGroup", "Thread Group", NULL,
						JFR_POOL, FIELDS(thread_group) },
	[JFR_THREAD_STATE - JFR_TYPE_FIRST] = { "jdk.types.ThreadState", "Java Thread State", NULL,
						JFR_POOL | JFR_SIMPLE, FIELDS(thread_state) },
	[JFR_VM_OPERATION_TYPE -
		JFR_TYPE_FIRST] = { "jdk.types.VMOperationType", "VM Operation Type", NULL,
				    JFR_POOL | JFR_SIMPLE, FIELDS(vm_operation_type) },
	[JFR_VIRTUAL_SPACE - JFR_TYPE_FIRST] = { "jdk.types.VirtualSpace", NULL, NULL, 0,
						 FIELDS(virtual_space) },
	[JFR_LONG - JFR_TYPE_FIRST] = { "long", NULL, NULL, 0, NULL, 0 },
	[JFR_SHORT - JFR_TYPE_FIRST] = { "short", NULL, NULL, 0, NULL, 0 },
	[JFR_SOURCE_FILE - JFR_TYPE_FIRST] = { "jvmscope.types.SourceFile", "Source File", NULL,
					       JFR_POOL, FIELDS(source_file) },
	[JFR_STACK_STATE - JFR_TYPE_FIRST] = { "jvmscope.types.StackState", "Stack State", NULL,
					       JFR_POOL | JFR_SIMPLE, FIELDS(stack_state) },
	[JFR_NAME - JFR_TYPE_FIRST] = { "jvmscope.types.Name", "Name", NULL, JFR_POOL | JFR_SIMPLE,
					FIELDS(name) },
	[JFR_INNER_FRAMES - JFR_TYPE_FIRST] = { "jvmscope.types.InnerFrames", NULL, NULL, JFR_POOL,
						FIELDS(inner_frames) },
};
