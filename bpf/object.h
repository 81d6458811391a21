/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JVS_OBJECT_BPF_H
#define JVS_OBJECT_BPF_H

#include "capture.h"
#include "jvs_object.h"

/* Java objects in the target's memory. All return 0 for what cannot be read. */

static __always_inline __u64 jvs_word_at(__u64 at)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (const void *)at);
	return word;
}

/* The address that a reference of 8 bytes stands for. */
static __always_inline __u64 jvs_oop_address(const struct jvs_object_layout *o, __u64 reference)
{
	__u32 since = reference >> JVS_OOP_SINCE_SHIFT & 15;

	if (o->oop_kind != JVS_OOP_SHIFTED || !since)
		return reference;
	if (since & 1)
		return reference >> (JVS_OOP_SINCE_SHIFT + 1);
	if (since & 2)
		return reference >> (JVS_OOP_SINCE_SHIFT + 2);
	if (since & 4)
		return reference >> (JVS_OOP_SINCE_SHIFT + 3);
	return reference >> (JVS_OOP_SINCE_SHIFT + 4);
}

/* The object that a field of another refers to. */
static __always_inline __u64 jvs_field_object(const struct jvs_object_layout *o, __u64 at)
{
	__u32 narrow = 0;

	if (o->oop_kind != JVS_OOP_NARROW)
		return jvs_oop_address(o, jvs_word_at(at));
	bpf_probe_read_user(&narrow, sizeof(narrow), (const void *)at);
	return narrow ? o->oop_base + ((__u64)narrow << (o->oop_shift & 63)) : 0;
}

/* The object that one of the VM's own structures refers to. */
static __always_inline __u64 jvs_vm_object(const struct jvs_object_layout *o, __u64 at)
{
	__u64 word = jvs_word_at(at);

	if (o->handles && word)
		word = jvs_word_at(word);
	return jvs_oop_address(o, word);
}

/* The Klass* of an object. */
static __always_inline __u64 jvs_object_klass(const struct jvs_object_layout *o, __u64 object)
{
	__u32 narrow = 0;
	__u64 number;

	if (!object)
		return 0;
	switch (o->klass_kind) {
	case JVS_KLASS_WIDE:
		return jvs_word_at(object + 8);
	case JVS_KLASS_NARROW:
		bpf_probe_read_user(&narrow, sizeof(narrow), (const void *)(object + 8));
		number = narrow;
		break;
	case JVS_KLASS_COMPACT:
		number = jvs_word_at(object) >> JVS_KLASS_COMPACT_SHIFT;
		break;
	default:
		return 0;
	}
	return number ? o->klass_base + (number << (o->klass_shift & 63)) : 0;
}

#endif
