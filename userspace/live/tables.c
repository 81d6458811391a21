/* SPDX-License-Identifier: Apache-2.0 */
#include "live/tables.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "target/ehframe.h"

#define TARGETS_BYTES  (JVS_MAX_TARGETS * sizeof(struct jvs_target))
#define MAPPINGS_BYTES (TABLES_MAX_MAPPINGS * sizeof(struct jvs_mapping))
#define ROWS_BYTES     (TABLES_MAX_ROWS * sizeof(struct jvs_row))
#define SEEN_BYTES     (JVS_SEEN_STACKS * sizeof(uint64_t))
#define INDEX_BYTES    (TABLES_MAX_INDEX * sizeof(uint64_t))

static size_t whole_pages(size_t size)
{
	return (size + 4095) & ~(size_t)4095;
}

static void *share(int fd, size_t size, const char *name)
{
	void *at = mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED) {
		log_error("BPF map %s: cannot be mapped: %s", name, strerror(errno));
		return NULL;
	}
	return at;
}

int tables_open(struct tables *tables, const struct table_fds *fds)
{
	int err;

	*tables = (struct tables){ .pids_fd = fds->pids,
				   .threads_fd = fds->threads,
				   .next_mapping_id = 1 };
	tables->targets = share(fds->targets, TARGETS_BYTES, "jvs_targets");
	tables->mappings = share(fds->mappings, MAPPINGS_BYTES, "jvs_mappings");
	tables->rows = share(fds->rows, ROWS_BYTES, "jvs_rows");
	tables->seen = share(fds->seen, SEEN_BYTES, "jvs_seen_stacks");
	tables->index = share(fds->index, INDEX_BYTES, "jvs_row_index");
	err = -EIO;
	if (!tables->targets || !tables->mappings || !tables->rows || !tables->index ||
	    !tables->seen)
		goto out;

	err = space_init(&tables->mapping_space, TABLES_MAX_MAPPINGS);
	if (!err)
		err = space_init(&tables->row_space, TABLES_MAX_ROWS);
	if (!err)
		err = space_init(&tables->index_space, TABLES_MAX_INDEX);
	if (err)
		log_error("unwind tables: %s", strerror(-err));
out:
	if (err)
		tables_close(tables);
	return err;
}

static void unshare_memory(void *at, size_t size)
{
	if (at)
		munmap(at, whole_pages(size));
}

void tables_close(struct tables *tables)
{
	unshare_memory(tables->targets, TARGETS_BYTES);
	unshare_memory(tables->mappings, MAPPINGS_BYTES);
	unshare_memory(tables->rows, ROWS_BYTES);
	unshare_memory(tables->index, INDEX_BYTES);
	unshare_memory(tables->seen, SEEN_BYTES);
	space_free(&tables->mapping_space);
	space_free(&tables->row_space);
	space_free(&tables->index_space);
	*tables = (struct tables){ 0 };
}

void tables_forget_stack(uint64_t *seen, uint64_t hash)
{
	size_t at = hash & (JVS_SEEN_STACKS - 2);

	for (uint64_t *slot = &seen[at]; slot < &seen[at + 2]; slot++)
		if (__atomic_load_n(slot, __ATOMIC_RELAXED) == hash)
			__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
}

int tables_add_rows(struct tables *tables, const struct unwind_rows *rows, struct table_image *out)
{
	struct table_image image;
	int err;

	err = space_take(&tables->row_space, (uint32_t)rows->count, &image.rows);
	if (err)
		return err;
	/* Without an index the search is longer, but right. */
	if (space_take(&tables->index_space, (uint32_t)rows->index_count, &image.index))
		image.index = (struct extent){ 0 };

	memcpy(&tables->rows[image.rows.first], rows->rows, rows->count * sizeof(*rows->rows));
	for (uint32_t i = 0; i < image.index.count; i++)
		tables->index[image.index.first + i] = image.rows.first + rows->index[i];
	*out = image;
	return 0;
}

void tables_remove_rows(struct tables *tables, struct table_image *image)
{
	space_give(&tables->row_space, image->rows);
	space_give(&tables->index_space, image->index);
	*image = (struct table_image){ 0 };
}

void tables_new_generation(struct tables *tables, uint32_t target)
{
	__atomic_add_fetch(&tables->targets[target].generation, 1, __ATOMIC_RELEASE);
}

int tables_set_mappings(struct tables *tables, uint32_t target, const struct jvs_mapping *mappings,
			uint32_t count, struct extent *extent)
{
	struct extent fresh;
	int err;

	err = space_take(&tables->mapping_space, count, &fresh);
	if (err)
		return err;
	if (count)
		memcpy(&tables->mappings[fresh.first], mappings, count * sizeof(*mappings));
	__atomic_store_n(&tables->targets[target].mappings,
			 fresh.first | (uint64_t)fresh.count << 32, __ATOMIC_RELEASE);
	tables_new_generation(tables, target);
	*extent = fresh;
	return 0;
}
