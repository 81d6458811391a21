/* SPDX-License-Identifier: Apache-2.0 */
#include "live/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "target/ehframe.h"
#include "target/image.h"
#include "target/maps.h"

static struct loaded_image *find(struct images *images, const struct mapping *mapping)
{
	for (size_t i = 0; i < images->count; i++) {
		struct loaded_image *at = images->items[i];

		if (at->inode == mapping->inode && at->device == mapping->device &&
		    strcmp(at->path, mapping->path) == 0)
			return at;
	}
	return NULL;
}

static void install_rows(struct tables *tables, struct loaded_image *loaded)
{
	struct unwind_rows rows;
	int err;

	err = ehframe_rows(loaded->image, &rows);
	if (err) {
		log_debug("%s: no unwind rows: %s", loaded->path, strerror(-err));
		return;
	}
	err = tables_add_rows(tables, &rows, &loaded->table);
	if (err)
		log_warn("%s: %zu unwind rows do not fit, frame pointers are used instead",
			 loaded->path, rows.count);
	else
		log_debug("%s: %zu functions, %zu unwind rows, %zu unsupported", loaded->path,
			  rows.functions, rows.count, rows.unsupported);
	ehframe_free(&rows);
}

static int reserve_one(struct images *images)
{
	size_t capacity = images->capacity ? images->capacity * 2 : 32;
	struct loaded_image **items;

	if (images->count < images->capacity)
		return 0;
	items = reallocarray(images->items, capacity, sizeof(*items));
	if (!items)
		return -ENOMEM;
	images->items = items;
	images->capacity = capacity;
	return 0;
}

struct loaded_image *images_get(struct images *images, struct tables *tables,
				const struct target *t, const struct mapping *mapping)
{
	struct loaded_image *loaded;
	int err;

	if (mapping->path[0] != '/' && strcmp(mapping->path, "[vdso]") != 0)
		return NULL;
	loaded = find(images, mapping);
	if (loaded) {
		loaded->users++;
		return loaded;
	}
	if (reserve_one(images))
		return NULL;
	loaded = calloc(1, sizeof(*loaded));
	if (!loaded)
		return NULL;
	loaded->path = strdup(mapping->path);
	if (!loaded->path) {
		free(loaded);
		return NULL;
	}
	loaded->inode = mapping->inode;
	loaded->device = mapping->device;
	loaded->users = 1;
	err = image_open(t, mapping, &loaded->image);
	if (err)
		log_debug("%s: %s", mapping->path, strerror(-err));
	else
		install_rows(tables, loaded);
	images->items[images->count++] = loaded;
	return loaded;
}

static void destroy(struct tables *tables, struct loaded_image *loaded)
{
	tables_remove_rows(tables, &loaded->table);
	image_close(loaded->image);
	free(loaded->path);
	free(loaded);
}

void images_put(struct images *images, struct tables *tables, struct loaded_image *image)
{
	if (!image || --image->users > 0)
		return;
	for (size_t i = 0; i < images->count; i++) {
		if (images->items[i] != image)
			continue;
		images->items[i] = images->items[--images->count];
		break;
	}
	destroy(tables, image);
}

void images_free(struct images *images, struct tables *tables)
{
	for (size_t i = 0; i < images->count; i++)
		destroy(tables, images->items[i]);
	free(images->items);
	*images = (struct images){ 0 };
}
