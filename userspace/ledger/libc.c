/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/libc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "ledger/claims.h"
#include "target/image.h"
#include "target/pagemap.h"
#include "target/smaps.h"
#include "target/target.h"

#define THREADS_MAX    100000
#define NAMES_MAX      4096 /* threads whose name is asked for */
#define KEPT_LIST      16   /* the list of kept stacks is behind the later of the other two */
#define DESCRIPTOR_MAX 8192 /* 2,304 and 2,368 seen */
#define TLS_MAX	       (1u << 20)
#define STACK_MAX      (1ull << 40)
#define LOADER_GAP     (1u << 17) /* between the loader and what it maps for itself */
#define LOADER_DATA    (1u << 16)

/* ---- opening */

static bool is_libc(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && (!strcmp(slash, "/libc.so.6") || !strncmp(slash, "/libc-2.", 8));
}

static const struct mapping *find_libc(const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		if (is_libc(maps->items[i].path))
			return &maps->items[i];
	return NULL;
}

/* A constant of the file: its page need not be present in the process. */
static bool read_constant(struct image *image, const char *name, void *to, size_t size)
{
	const uint8_t *bytes;
	uint64_t vaddr;
	size_t there;

	if (image_symbol(image, name, true, &vaddr))
		return false;
	bytes = image_bytes(image, vaddr, &there);
	if (!bytes || there < size)
		return false;
	memcpy(to, bytes, size);
	return true;
}

/* libthread_db's descriptor of a field: bits, how many, offset. */
static bool read_offset(struct image *image, const char *name, uint32_t *out)
{
	uint32_t field[3];

	if (!read_constant(image, name, field, sizeof(field)))
		return false;
	*out = field[2];
	return true;
}

static bool read_lists(const struct target *t, struct image *image, uint64_t bias,
		       struct libc *libc)
{
	uint64_t globals;

	return !image_symbol(image, "__nptl_rtld_global", true, &globals) &&
	       !target_read_u64(t, globals + bias, &libc->globals) &&
	       read_offset(image, "_thread_db_rtld_global__dl_stack_used", &libc->used) &&
	       read_offset(image, "_thread_db_rtld_global__dl_stack_user", &libc->user) &&
	       read_offset(image, "_thread_db_pthread_list", &libc->link) &&
	       read_offset(image, "_thread_db_pthread_tid", &libc->tid) &&
	       read_constant(image, "_thread_db_sizeof_pthread", &libc->thread_size,
			     sizeof(libc->thread_size)) &&
	       libc->thread_size <= DESCRIPTOR_MAX;
}

/* The data segment, and the anonymous memory behind it that belongs to it. */
static void find_data(const struct maps *maps, const struct mapping *first, struct libc *libc)
{
	const struct mapping *last = first;

	while (last + 1 < maps->items + maps->count && !strcmp(last[1].path, first->path))
		last++;
	if (last + 1 < maps->items + maps->count && !last[1].path[0] && last[1].start == last->end)
		last++;
	libc->data_start = first->end;
	libc->data_end = last->end;
}

void libc_open(const struct target *t, const struct maps *maps, struct libc *out)
{
	const struct mapping *mapping = find_libc(maps);
	struct image *image;

	*out = (struct libc){ 0 };
	if (!mapping || image_open(t, mapping, &image))
		return;
	find_data(maps, mapping, out);
	out->found = read_lists(t, image, image_bias(image, mapping), out);
	image_close(image);
}

/* ---- names */

struct thread_names {
	const struct target *target;
	struct map64 tids; /* in the JVM's namespace to ours */
	uint32_t count;
};

static int note_tid(pid_t tid, void *ctx)
{
	struct thread_names *names = ctx;
	pid_t ns_tid = tid;

	if (names->count++ >= NAMES_MAX)
		return 1;
	if (names->target->pid != names->target->ns_pid)
		ns_tid = target_thread_ns_tid(names->target, tid);
	if (ns_tid > 0)
		map64_set(&names->tids, (uint64_t)ns_tid, (uint32_t)tid);
	return 0;
}

/* "pool-1-thread-12" and "pool-1-thread-7" are one group, "pool-thread". */
static void group_name(const struct thread_names *names, uint32_t ns_tid, char to[CLAIMS_NAME_MAX])
{
	char comm[CLAIMS_NAME_MAX];
	uint32_t tid;
	size_t len;

	snprintf(to, CLAIMS_NAME_MAX, "%s", "threads");
	if (!map64_get(&names->tids, ns_tid, &tid))
		return;
	target_thread_name(names->target, (pid_t)tid, comm, sizeof(comm));
	len = strlen(comm);
	while (len && (isdigit((unsigned char)comm[len - 1]) || strchr("-#_ ", comm[len - 1])))
		len--;
	if (len)
		snprintf(to, CLAIMS_NAME_MAX, "%.*s", (int)len, comm);
}

/* ---- the lists */

struct stack_walk {
	struct libc *libc;
	const struct target *target;
	const struct smaps *smaps;
	struct claims *claims;
	const struct thread_names *names; /* NULL: not by name */
	uint64_t count;
};

/* A descriptor lies in its own stack: base and size are two words in it that enclose it. */
static bool find_stack_offset(struct stack_walk *walk, uint64_t descriptor)
{
	uint32_t count = walk->libc->thread_size / 8;
	uint64_t words[DESCRIPTOR_MAX / 8];

	if (target_read(walk->target, descriptor, words, count * sizeof(*words)))
		return false;
	for (uint32_t i = 0; i + 1 < count; i++) {
		if (words[i] && words[i] % PAGE_BYTES == 0 && words[i + 1] % PAGE_BYTES == 0 &&
		    words[i + 1] < STACK_MAX && words[i] < descriptor &&
		    descriptor - words[i] < words[i + 1]) {
			walk->libc->stack = i * 8;
			return true;
		}
	}
	return false;
}

static void claim_stack(struct stack_walk *walk, uint64_t descriptor, enum rec_line line)
{
	char name[CLAIMS_NAME_MAX] = "stacks";
	struct claim_part *part;
	uint64_t stack[2];
	uint32_t tid;

	if (!walk->libc->stack && !find_stack_offset(walk, descriptor))
		return;
	if (target_read(walk->target, descriptor + walk->libc->stack, stack, sizeof(stack)) ||
	    !stack[0] || stack[1] >= STACK_MAX)
		return;
	if (walk->names && line == REC_LINE_STACKS &&
	    !target_read_u32(walk->target, descriptor + walk->libc->tid, &tid))
		group_name(walk->names, tid, name);
	part = claims_add(walk->claims, line, name, stack[0], stack[0] + stack[1]);
	if (part)
		part->row.count++;
}

/* The first thread's stack is the kernel's; its descriptor is in memory of the loader. */
static void claim_first_thread(struct stack_walk *walk, uint64_t descriptor)
{
	const struct mapping *mapping = maps_find(&walk->smaps->maps, descriptor);

	if (mapping && !mapping->path[0] && mapping->end - mapping->start <= TLS_MAX)
		claims_add(walk->claims, REC_LINE_LIBRARY_DATA, "loader and first thread",
			   mapping->start, mapping->end);
}

static void walk_list(struct stack_walk *walk, uint64_t head, bool first, enum rec_line line)
{
	uint64_t at = 0;

	if (target_read_u64(walk->target, head, &at))
		return;
	for (uint32_t n = 0; at && at != head && n < THREADS_MAX; n++) {
		uint64_t descriptor = at - walk->libc->link;

		if (first)
			claim_first_thread(walk, descriptor);
		else
			claim_stack(walk, descriptor, line);
		walk->count += line == REC_LINE_STACKS;
		if (target_read_u64(walk->target, at, &at))
			return;
	}
}

static void claim_kernel_stack(const struct smaps *smaps, struct claims *claims)
{
	for (size_t i = 0; i < smaps->maps.count; i++) {
		const struct mapping *mapping = &smaps->maps.items[i];
		struct claim_part *part;

		if (strcmp(mapping->path, "[stack]") != 0)
			continue;
		part = claims_add(claims, REC_LINE_STACKS, "first thread", mapping->start,
				  mapping->end);
		if (part)
			part->row.count = 1;
	}
}

static bool is_loader(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !strncmp(slash, "/ld-", 4);
}

/* What the loader maps for itself before there is a malloc: small, and below it. */
static void claim_loader(const struct maps *maps, struct claims *claims)
{
	const struct mapping *loader = NULL;

	for (size_t i = 0; i < maps->count && !loader; i++)
		if (is_loader(maps->items[i].path))
			loader = &maps->items[i];
	for (size_t i = 0; loader && i < maps->count; i++) {
		const struct mapping *m = &maps->items[i];

		if (!m->path[0] && m->end <= loader->start && loader->start - m->end < LOADER_GAP &&
		    m->end - m->start <= LOADER_DATA)
			claims_add(claims, REC_LINE_LIBRARY_DATA, "loader and first thread",
				   m->start, m->end);
	}
}

void libc_claim_stacks(struct libc *libc, const struct target *t, const struct smaps *smaps,
		       struct claims *claims, bool by_name, uint64_t *threads)
{
	struct thread_names names = { .target = t };
	struct stack_walk walk = { .libc = libc,
				   .target = t,
				   .smaps = smaps,
				   .claims = claims,
				   .names = by_name ? &names : NULL };
	uint32_t later = libc->used > libc->user ? libc->used : libc->user;

	claim_kernel_stack(smaps, claims);
	if (libc->found) {
		if (by_name)
			target_each_thread(t, note_tid, &names);
		walk_list(&walk, libc->globals + libc->used, false, REC_LINE_STACKS);
		walk_list(&walk, libc->globals + libc->user, true, REC_LINE_STACKS);
		walk_list(&walk, libc->globals + later + KEPT_LIST, false, REC_LINE_STACKS_KEPT);
	}
	claim_loader(&smaps->maps, claims);
	map64_free(&names.tids);
	*threads = walk.count;
}
