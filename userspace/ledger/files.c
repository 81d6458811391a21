/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/files.h"

#include <string.h>

#include "base/text.h"
#include "ledger/claims.h"
#include "target/image.h"
#include "target/smaps.h"

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_library(const struct mapping *mapping)
{
	const char *name = file_name(mapping->path);

	return mapping->executable || strstr(name, ".so") || !strcmp(name, "java");
}

static void claim_file(const struct mapping *mapping, const struct smap *smap,
		       struct claims *claims)
{
	const char *name = file_name(mapping->path), *part = "other files";
	enum rec_line line = REC_LINE_FILES;

	if (strstr(mapping->path, "hsperfdata")) {
		line = REC_LINE_PERF_DATA;
		part = "counters";
	} else if (is_library(mapping)) {
		line = smap->writable ? REC_LINE_LIBRARY_DATA : REC_LINE_LIBRARIES;
		part = !strcmp(name, "libjvm.so") ? name : "other libraries";
	} else if (!strcmp(name, "modules")) {
		part = "modules of the JDK";
	} else if (text_ends_with(name, ".jar")) {
		part = "jars";
	}
	claims_add(claims, line, part, mapping->start, mapping->end);
}

/* Anonymous memory right behind a library's writable data, as far as its last segment reaches. */
static void claim_bss(const struct target *t, const struct smaps *smaps, size_t i,
		      struct claims *claims)
{
	const struct mapping *mapping = &smaps->maps.items[i], *before = mapping - 1;
	struct image *image;
	uint64_t end;

	if (!i || mapping->path[0] || before->path[0] != '/' || before->end != mapping->start ||
	    !smaps->items[i - 1].writable || !is_library(before) || image_open(t, before, &image))
		return;
	end = image_end(image) + image_bias(image, before);
	image_close(image);
	if (end > mapping->end)
		end = mapping->end;
	if (end > mapping->start)
		claims_add(claims, REC_LINE_LIBRARY_DATA,
			   !strcmp(file_name(before->path), "libjvm.so") ? "libjvm.so"
									 : "other libraries",
			   mapping->start, end);
}

void files_claim(const struct target *t, const struct smaps *smaps, struct claims *claims)
{
	for (size_t i = 0; i < smaps->maps.count; i++) {
		const struct mapping *mapping = &smaps->maps.items[i];

		if (mapping->path[0] == '/' && !strstr(mapping->path, "memfd:"))
			claim_file(mapping, &smaps->items[i], claims);
		else if (mapping->path[0] == '[' && strcmp(mapping->path, "[heap]") != 0 &&
			 strcmp(mapping->path, "[stack]") != 0 &&
			 strncmp(mapping->path, "[anon", 5) != 0)
			claims_add(claims, REC_LINE_KERNEL, mapping->path, mapping->start,
				   mapping->end);
		else
			claim_bss(t, smaps, i, claims);
	}
}

const char *files_allocator(const struct smaps *smaps)
{
	static const char *const names[] = { "libjemalloc", "libtcmalloc", "libmimalloc",
					     "libsnmalloc", "ld-musl" };

	for (size_t i = 0; i < smaps->maps.count; i++)
		for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
			const char *name = file_name(smaps->maps.items[i].path);

			if (!strncmp(name, names[n], strlen(names[n])))
				return name;
		}
	return NULL;
}
