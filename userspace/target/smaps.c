/* SPDX-License-Identifier: Apache-2.0 */
#include "target/smaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/pagemap.h"
#include "target/proc.h"

/* 25 lines for each of 65,530 mappings: see MAPS_TEXT_MAX of maps.c. */
#define SMAPS_TEXT_MAX	(256u << 20)
#define ROLLUP_TEXT_MAX 65536
#define STATM_SIZE	128
#define STATUS_SIZE	4096

static const struct {
	const char *key; /* with the colon */
	size_t member;
} numbers[] = {
	{ "Rss:", offsetof(struct smap, rss) },
	{ "Pss:", offsetof(struct smap, pss) },
	{ "Swap:", offsetof(struct smap, swap) },
	{ "KernelPageSize:", offsetof(struct smap, page_size) },
	{ "Shared_Hugetlb:", offsetof(struct smap, hugetlb) },
	{ "Private_Hugetlb:", offsetof(struct smap, hugetlb) },
};

/* Lines of a mapping begin with its address in lower case, the others with an upper-case word. */
static bool is_detail(const char *line)
{
	return *line >= 'A' && *line <= 'Z';
}

static int take_detail(const char *line, struct smap *smap)
{
	char *member = (char *)smap, *end;
	uint64_t value, sum;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		size_t len = strlen(numbers[i].key);

		if (strncmp(line, numbers[i].key, len) != 0)
			continue;
		errno = 0;
		value = strtoull(line + len, &end, 10);
		if (end == line + len || errno || value > UINT64_MAX >> 11)
			return -EBADMSG;
		memcpy(&sum, member + numbers[i].member, sizeof(sum));
		sum += value * 1024;
		memcpy(member + numbers[i].member, &sum, sizeof(sum));
	}
	return 0;
}

static bool is_writable(const char *line)
{
	const char *rights = strchr(line, ' ');

	return rights && rights[1] && rights[2] == 'w';
}

/*
 * Takes the details out of text, which leaves lines as maps has them for maps_parse(): they keep
 * their bytes, so *kept is how long that is. items[n] is of the n-th of them.
 */
static int take_details(char *text, struct smap *items, size_t *count, size_t *kept)
{
	char *to = text, *line, *next = text;
	size_t len;
	int err = 0;

	*count = 0;
	while (!err && (line = strsep(&next, "\n"))) {
		if (!*line)
			continue;
		if (is_detail(line)) {
			err = *count ? take_detail(line, &items[*count - 1]) : -EBADMSG;
			continue;
		}
		items[(*count)++].writable = is_writable(line);
		len = strlen(line);
		memmove(to, line, len);
		to += len;
		*to++ = '\n';
	}
	*to = '\0';
	*kept = (size_t)(to - text);
	return err;
}

static size_t count_mappings(const char *text)
{
	size_t count = 0;

	while (text && *text) {
		count += !is_detail(text);
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return count;
}

int smaps_parse(char *text, struct smaps *out)
{
	size_t size = strlen(text), count, kept;
	struct smaps smaps = { 0 };
	char *room;
	int err;

	/* One byte more: the last line may end without a newline. */
	room = realloc(text, size + 2);
	if (!room) {
		free(text);
		return -ENOMEM;
	}
	smaps.items = calloc(count_mappings(room) + 1, sizeof(*smaps.items));
	err = smaps.items ? take_details(room, smaps.items, &count, &kept) : -ENOMEM;
	if (err) {
		free(room);
		free(smaps.items);
		return err;
	}
	err = maps_parse(room, &smaps.maps);
	/* A mapping that grew while it was read is seen twice, and cut: rows no longer agree. */
	if (!err && smaps.maps.count != count)
		err = -EAGAIN;
	if (err) {
		smaps_free(&smaps);
		return err;
	}
	*out = smaps;
	return 0;
}

int smaps_read(pid_t pid, struct smaps *out)
{
	char *text;
	int err = proc_read_all(pid, "smaps", SMAPS_TEXT_MAX, &text);

	return err ? err : smaps_parse(text, out);
}

int smaps_rollup_rss(pid_t pid, uint64_t *out)
{
	struct smap sum = { 0 };
	char *text, *next, *line;
	int err = proc_read_all(pid, "smaps_rollup", ROLLUP_TEXT_MAX, &text);

	if (err)
		return err;
	next = text;
	while (!err && (line = strsep(&next, "\n")))
		err = is_detail(line) ? take_detail(line, &sum) : 0;
	if (!err)
		*out = sum.rss;
	free(text);
	return err;
}

int smaps_peak_rss(pid_t pid, uint64_t *out)
{
	char text[STATUS_SIZE];
	ssize_t len = proc_read(pid, proc_live_thread(pid), "status", text, sizeof(text));
	long long kib = len < 0 ? -1 : proc_status_number(text, "VmHWM", 0);

	if (len < 0)
		return (int)len;
	if (kib < 0)
		return -EBADMSG;
	*out = (uint64_t)kib * 1024;
	return 0;
}

void smaps_free(struct smaps *smaps)
{
	maps_free(&smaps->maps);
	free(smaps->items);
	*smaps = (struct smaps){ 0 };
}
