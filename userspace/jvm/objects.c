/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/objects.h"

#include <errno.h>
#include <string.h>

#include "jvm/flags.h"
#include "jvm/javafield.h"
#include "target/target.h"

#define WAIT_SET_BEFORE 8 /* bytes that _WaitSet is before _waiters; 11 to 28 */

#define HANDLES_SINCE 16 /* OopHandle and WeakHandle in JavaThread and ObjectMonitor */

/* A base address and the shift that goes with it. */
static int read_narrow(const struct target *t, struct field base, struct field shift,
		       __u64 *base_out, __u32 *shift_out)
{
	uint64_t address = 0, bits = 0;
	int err;

	if (!field_exists(base) || !field_exists(shift))
		return -ENOENT;
	err = field_read(t, 0, base, &address);
	if (!err)
		err = field_read(t, 0, shift, &bits);
	if (!err && bits > 32)
		err = -EBADMSG;
	if (err)
		return err;
	*base_out = address;
	*shift_out = (uint32_t)bits;
	return 0;
}

static int find_oops(const struct target *t, const struct hotspot *h, const char *gc_name,
		     bool compressed, struct jvs_object_layout *out)
{
	const struct fields *f = &h->field;

	if (!strcmp(gc_name, "ZGC")) {
		out->oop_kind = field_exists(f->z_load_shift) ? JVS_OOP_SHIFTED : JVS_OOP_MASKED;
		return 0;
	}
	out->oop_kind = compressed ? JVS_OOP_NARROW : JVS_OOP_WIDE;
	if (!compressed)
		return 0;
	return read_narrow(t, f->narrow_base, f->narrow_shift, &out->oop_base, &out->oop_shift);
}

static int find_klasses(const struct target *t, const struct hotspot *h, bool narrow, bool compact,
			struct jvs_object_layout *out)
{
	const struct fields *f = &h->field;

	out->klass_kind = compact ? JVS_KLASS_COMPACT : narrow ? JVS_KLASS_NARROW : JVS_KLASS_WIDE;
	if (!compact && !narrow)
		return 0;
	return read_narrow(t, f->narrow_klass_base, f->narrow_klass_shift, &out->klass_base,
			   &out->klass_shift);
}

static int find_blocker(const struct target *t, const struct hotspot *h, int major,
			struct jvs_object_layout *out)
{
	struct javafield field = { .name = "parkBlocker" };
	uint64_t klass = 0;
	int err = field_read(t, 0, h->field.thread_klass, &klass);

	if (!err)
		err = klass ? javafield_find(t, h, major, klass, &field, 1) : -EAGAIN;
	if (!err)
		out->thread_blocker = field.offset;
	return err;
}

int objects_layout(const struct target *t, const struct hotspot *h, int major, const char *gc_name,
		   struct jvs_object_layout *out)
{
	static const char *const names[] = { "UseCompressedOops", "UseCompressedClassPointers",
					     "UseCompactObjectHeaders" };
	struct jvs_object_layout found = { .handles = major >= HANDLES_SINCE };
	bool set[3] = { false };
	int err;

	if (!field_exists(h->field.thread_object) || !field_exists(h->field.thread_klass))
		return -ENOENT;
	found.thread_object = (uint32_t)h->field.thread_object.at;
	if (field_exists(h->field.monitor_waiters))
		found.wait_set = (uint32_t)h->field.monitor_waiters.at - WAIT_SET_BEFORE;
	err = flags_read(t, h, names, 3, set);
	if (!err)
		err = find_oops(t, h, gc_name, set[0], &found);
	if (!err)
		err = find_klasses(t, h, set[1], set[2], &found);
	if (!err)
		err = find_blocker(t, h, major, &found);
	if (!err)
		*out = found;
	return err;
}
