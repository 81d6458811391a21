/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/loader.h"

#include <errno.h>
#include <string.h>

#include "jvm/layout.h"
#include "target/target.h"

#define LOADERS_SEEN 1000 /* while looking for the platform loader */
#define WORDS_BEHIND 8	  /* of _next; the name and id is the third or fourth */

static const char platform[] = "'platform'";

static int read_basics(const struct target *t, const struct hotspot *h,
		       struct jvs_class_layout *out)
{
	const struct fields *f = &h->field;
	uint64_t base = 0, top = 0;

	if (!field_exists(f->klass_layout_helper) || !field_exists(f->klass_loader) ||
	    !field_exists(f->klass_name))
		return -ENOENT;
	out->klass_name = (uint32_t)f->klass_name.at;
	out->klass_cld = (uint32_t)f->klass_loader.at;
	out->klass_layout_helper = (uint32_t)f->klass_layout_helper.at;
	out->symbol_body = (uint32_t)f->symbol_body.at;
	/* Of 12 to 14 the length is the upper half of a word. */
	out->symbol_length = field_exists(f->symbol_length)
				     ? (uint32_t)f->symbol_length.at
				     : (uint32_t)f->symbol_length_and_refcount.at + 2;
	out->loader_klass = JVS_NO_FIELD;
	out->loader_name_and_id = JVS_NO_FIELD;
	if (field_exists(f->archive_base) && !field_read(t, 0, f->archive_base, &base) &&
	    !field_read(t, 0, f->archive_top, &top) && base < top) {
		out->archive_low = base;
		out->archive_high = top;
	}
	out->ready = 1;
	return 0;
}

/* Which of the words behind _next is the name and id; 0: none. */
static uint32_t find_name(const struct target *t, const struct jvs_class_layout *layout,
			  const uint64_t *words)
{
	char text[sizeof(platform) + 1];

	for (uint32_t i = 2; i < WORDS_BEHIND; i++) {
		if (!words[i])
			continue;
		if (loader_symbol(t, layout, words[i], text, sizeof(text)) ==
			    sizeof(platform) - 1 &&
		    !strcmp(text, platform))
			return i;
	}
	return 0;
}

static int find_platform(const struct target *t, const struct hotspot *h,
			 struct jvs_class_layout *out)
{
	uint64_t words[WORDS_BEHIND], at;
	uint32_t i;

	if (!field_exists(h->field.loader_head) || !field_exists(h->field.loader_next))
		return -ENOENT;
	if (field_read(t, 0, h->field.loader_head, &at))
		return -EAGAIN;
	for (int n = 0; at && n < LOADERS_SEEN; n++) {
		if (target_read(t, at + h->field.loader_next.at, words, sizeof(words)))
			return -EAGAIN;
		i = find_name(t, out, words);
		if (i) {
			out->loader_name_and_id = (uint32_t)(h->field.loader_next.at + 8ull * i);
			out->loader_klass = out->loader_name_and_id - 16;
			return 0;
		}
		at = words[0];
	}
	return -EAGAIN;
}

int loader_layout(const struct target *t, const struct hotspot *h, struct jvs_class_layout *out)
{
	struct jvs_class_layout layout = { 0 };
	int err = read_basics(t, h, &layout);

	if (err)
		return err;
	err = find_platform(t, h, &layout);
	*out = layout;
	return err == -ENOENT ? 0 : err;
}

int loader_symbol(const struct target *t, const struct jvs_class_layout *layout, uint64_t symbol,
		  char *to, size_t size)
{
	uint16_t length;
	size_t some;
	int err = target_read(t, symbol + layout->symbol_length, &length, sizeof(length));

	if (err)
		return err;
	some = length < size ? length : size - 1;
	err = target_read(t, symbol + layout->symbol_body, to, some);
	if (err)
		return err;
	to[some] = '\0';
	return length;
}

uint64_t loader_class_symbol(const struct target *t, const struct jvs_class_layout *layout,
			     uint64_t klass)
{
	uint64_t symbol = 0;

	return target_read_u64(t, klass + layout->klass_name, &symbol) ? 0 : symbol;
}
