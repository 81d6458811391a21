/* SPDX-License-Identifier: Apache-2.0 */
#include "target/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/proc.h"

/* 65,530 mappings (the kernel's default limit) with paths of 1,000 bytes. */
#define MAPS_TEXT_MAX (64u << 20)

#define DELETED " (deleted)"

/* A hexadecimal number that ends with end, which is skipped. */
static bool take_hex(char **at, char end, uint64_t *out)
{
	char *stop;

	if (**at == ' ' || **at == '-' || **at == '+')
		return false;
	errno = 0;
	*out = strtoull(*at, &stop, 16);
	if (stop == *at || errno || *stop != end)
		return false;
	*at = stop + 1;
	return true;
}

/* "r-xp " */
static bool take_rights(char **at, struct mapping *mapping)
{
	const char *rights = *at;

	if (strnlen(rights, 5) < 5 || rights[4] != ' ')
		return false;
	mapping->readable = rights[0] == 'r';
	mapping->executable = rights[2] == 'x';
	*at += 5;
	return true;
}

static bool take_device(char **at, struct mapping *mapping)
{
	uint64_t major;
	uint64_t minor;

	if (!take_hex(at, ':', &major) || !take_hex(at, ' ', &minor))
		return false;
	mapping->device = major << 32 | (minor & 0xffffffff);
	return true;
}

/* The kernel writes a newline in a path as \012, and escapes nothing else. */
static void unescape_newlines(char *path)
{
	char *to = strstr(path, "\\012");
	const char *from = to;

	while (to && *from) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	if (to)
		*to = '\0';
}

/* "   inode      path" up to the end of the line; the path may be missing. */
static bool take_inode_and_path(char *at, struct mapping *mapping)
{
	size_t suffix = strlen(DELETED);
	size_t len;
	char *path;

	errno = 0;
	mapping->inode = strtoull(at, &path, 10);
	if (path == at || errno || (*path && *path != ' '))
		return false;
	path += strspn(path, " ");
	unescape_newlines(path);
	len = strlen(path);
	if (path[0] == '/' && len > suffix && !strcmp(path + len - suffix, DELETED)) {
		path[len - suffix] = '\0';
		mapping->deleted = true;
	}
	mapping->path = path;
	return true;
}

static bool parse_line(char *line, struct mapping *out)
{
	*out = (struct mapping){ 0 };
	return take_hex(&line, '-', &out->start) && take_hex(&line, ' ', &out->end) &&
	       take_rights(&line, out) && take_hex(&line, ' ', &out->offset) &&
	       take_device(&line, out) && take_inode_and_path(line, out) && out->start < out->end;
}

/*
 * The kernel hands the file out page by page, so a mapping that grew in between is seen twice.
 * What was already seen is cut off; false when nothing is left.
 */
static bool cut_seen(struct mapping *mapping, uint64_t seen)
{
	if (mapping->end <= seen)
		return false;
	if (mapping->start < seen) {
		mapping->offset += seen - mapping->start;
		mapping->start = seen;
	}
	return true;
}

static size_t count_lines(const char *text)
{
	size_t count = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		count++;
	}
	return count;
}

static int parse_lines(char *text, struct mapping *items, size_t *count)
{
	uint64_t seen = 0;
	char *next = text;
	char *line;

	while ((line = strsep(&next, "\n"))) {
		if (!*line && !next)
			break;
		if (!parse_line(line, &items[*count]))
			return -EBADMSG;
		if (!cut_seen(&items[*count], seen))
			continue;
		seen = items[*count].end;
		(*count)++;
	}
	return 0;
}

int maps_parse(char *text, struct maps *out)
{
	struct maps maps = { .text = text };
	int err;

	maps.items = calloc(count_lines(text), sizeof(*maps.items));
	err = maps.items ? parse_lines(text, maps.items, &maps.count) : -ENOMEM;
	if (err) {
		maps_free(&maps);
		return err;
	}
	*out = maps;
	return 0;
}

int maps_read(pid_t pid, struct maps *out)
{
	char *text;
	int err = proc_read_all(pid, "maps", MAPS_TEXT_MAX, &text);

	return err ? err : maps_parse(text, out);
}

const struct mapping *maps_find(const struct maps *maps, uint64_t addr)
{
	size_t low = 0;
	size_t high = maps->count;
	size_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (maps->items[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == maps->count || maps->items[low].start > addr)
		return NULL;
	return &maps->items[low];
}

const struct mapping *maps_find_file(const struct maps *maps, const char *name)
{
	const char *slash;

	for (size_t i = 0; i < maps->count; i++) {
		slash = strrchr(maps->items[i].path, '/');
		if (slash && !strcmp(slash + 1, name))
			return &maps->items[i];
	}
	return NULL;
}

int maps_own_offset(const void *code, uint64_t *out)
{
	uint64_t addr = (uint64_t)(uintptr_t)code;
	const struct mapping *mapping;
	struct maps maps;
	int err = maps_read(getpid(), &maps);

	if (err)
		return err;
	mapping = maps_find(&maps, addr);
	if (mapping)
		*out = addr - mapping->start + mapping->offset;
	maps_free(&maps);
	return mapping ? 0 : -ENOENT;
}

void maps_free(struct maps *maps)
{
	free(maps->items);
	free(maps->text);
	*maps = (struct maps){ 0 };
}
