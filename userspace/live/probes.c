/* SPDX-License-Identifier: Apache-2.0 */
#include "live/probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "target/image.h"
#include "target/insn.h"
#include "target/insn_flow.h"
#include "target/target.h"
#include "target/usdt.h"

/* Of enum bpf_attach_type; libbpf 1.1 knows neither. */
#define ATTACH_MULTI   48
#define ATTACH_SESSION 57
#define MULTI_RETURN   1u /* BPF_F_UPROBE_MULTI_RETURN */

/* BPF_LINK_CREATE for uprobe_multi, as in union bpf_attr of newer kernels. */
struct multi_attr {
	uint32_t program;
	uint32_t target;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};
_Static_assert(sizeof(struct multi_attr) == 64, "no holes");

static int link_multi(const struct multi_attr *attr)
{
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : (int)fd;
}

static uint64_t address_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* ---- what the kernel has */

/* A kernel that knows the attach type looks for the file, another refuses before. */
static bool kernel_links(uint32_t attach_type)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)attach_type);
	const uint64_t offset = 0;
	struct multi_attr attr = { .attach_type = attach_type,
				   .path = address_of("/dev/null/none"),
				   .offsets = address_of(&offset),
				   .count = 1 };
	int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "try", "GPL", code, 2, &opts);
	int err;

	if (program < 0)
		return false;
	attr.program = (uint32_t)program;
	err = link_multi(&attr);
	if (err >= 0)
		close(err);
	close(program);
	return err == -ENOTDIR || err == -ENOENT;
}

/* JVMSCOPE_LINKS says what is not to be looked for, for tests: "single" or "multi" is the best. */
enum probe_links probes_best(void)
{
	const char *best = getenv("JVMSCOPE_LINKS");

	if (best && !strcmp(best, "single"))
		return PROBE_SINGLE;
	if (!(best && !strcmp(best, "multi")) && kernel_links(ATTACH_SESSION))
		return PROBE_SESSION;
	return kernel_links(ATTACH_MULTI) ? PROBE_MULTI : PROBE_SINGLE;
}

/* ---- programs */

static const struct {
	const char *suffix;
	enum probe_links links;
	uint32_t attach_type; /* 0: libbpf's own */
} kinds[] = {
	{ "entry", PROBE_SINGLE, 0 },
	{ "return", PROBE_SINGLE, 0 },
	{ "entry_multi", PROBE_MULTI, ATTACH_MULTI },
	{ "return_multi", PROBE_MULTI, ATTACH_MULTI },
	{ "session", PROBE_SESSION, ATTACH_SESSION },
};

#define KINDS	  (sizeof(kinds) / sizeof(kinds[0]))
#define NAME_SIZE 64

static struct bpf_program *program_of(const struct bpf_object *object, const char *group,
				      const char *suffix)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "jvs_%s_%s", group, suffix);
	return bpf_object__find_program_by_name(object, name);
}

/* Where sessions are, what wants no return is still a multi link: see attach_multi_sites(). */
static bool is_used(size_t kind, enum probe_links links)
{
	return kinds[kind].links == links ||
	       (links == PROBE_SESSION && !strcmp(kinds[kind].suffix, "entry_multi"));
}

int probes_choose(struct bpf_object *object, const char *group, enum probe_links links, bool wanted)
{
	for (size_t i = 0; i < KINDS; i++) {
		struct bpf_program *program = program_of(object, group, kinds[i].suffix);
		bool on = wanted && is_used(i, links);

		if (!program && on && strncmp(kinds[i].suffix, "return", 6) != 0)
			return -ENOENT;
		if (!program)
			continue;
		bpf_program__set_autoload(program, on);
		if (on && kinds[i].attach_type)
			bpf_program__set_expected_attach_type(
				program, (enum bpf_attach_type)kinds[i].attach_type);
	}
	return 0;
}

void probes_borrow(struct probe_set *set, const struct bpf_object *object, const char *group,
		   enum probe_links links)
{
	static const char *const names[][2] = {
		[PROBE_SINGLE] = { "entry", "return" },
		[PROBE_MULTI] = { "entry_multi", "return_multi" },
		[PROBE_SESSION] = { "entry_multi", "session" },
	};

	set->links = links;
	set->entry = program_of(object, group, names[links][0]);
	set->at_return = program_of(object, group, names[links][1]);
}

/* ---- sites */

/* A function that was found. */
struct function {
	char name[256];
	uint64_t vaddr;
	uint64_t file_offset;
};

static bool find_symbol(struct image *image, const char *symbol, struct function *out)
{
	static const char *const tag_types[] = { "6MemTag", "8MEMFLAGS", "10MemoryType" };
	const char *at = strchr(symbol, '@');
	size_t tries = at ? sizeof(tag_types) / sizeof(tag_types[0]) : 1;

	for (size_t i = 0; i < tries; i++) {
		snprintf(out->name, sizeof(out->name), "%.*s%s%s",
			 at ? (int)(at - symbol) : (int)strlen(symbol), symbol,
			 at ? tag_types[i] : "", at ? at + 1 : "");
		if (image_symbol(image, out->name, false, &out->vaddr) == 0)
			return image_file_offset(image, out->vaddr, &out->file_offset) == 0;
	}
	return false;
}

static bool has_site(const struct probe_set *set, uint64_t file_offset)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->sites[i].file_offset == file_offset)
			return true;
	return false;
}

static void add_site(struct probe_set *set, const struct probe_site *site)
{
	if (set->count < PROBES_MAX && !has_site(set, site->file_offset))
		set->sites[set->count++] = *site;
}

static struct insn_site site_in(enum probe_where where, const uint8_t *code, size_t size)
{
	if (where == PROBE_FIRST)
		return insn_site_first(code, size);
	return where == PROBE_METHOD ? insn_site_two(code, size) : insn_site(code, size);
}

/* From the file: in memory another tracer's breakpoint may be. */
static bool add_entry(struct probe_set *set, const struct probe_request *request,
		      const struct probe *probe, const struct function *function)
{
	uint8_t code[INSN_BYTES_MAX];
	struct insn_site insn;
	ssize_t size = pread(set->file, code, sizeof(code), (off_t)function->file_offset);
	char name[128];

	if (size <= 0)
		return false;
	insn = site_in(probe->where, code, (size_t)size);
	if (!insn.emulated && probe->where != PROBE_ONCE)
		log_warn("pid %d: %s: %s begins with nothing the kernel emulates: each call costs "
			 "some 15 us while it is probed",
			 request->target->pid, image_name(request->image),
			 image_demangle(function->name, name, sizeof(name)));
	add_site(set, &(struct probe_site){
			      probe->id, probe->where == PROBE_METHOD ? PROBE_CALL : probe->where,
			      function->file_offset + insn.offset, insn.emulated });
	return true;
}

struct import {
	const struct image *image;
	uint64_t function;
	const char *name;
};

static bool is_import(void *ctx, int64_t offset)
{
	const struct import *import = ctx;

	return image_imports(import->image, import->function + (uint64_t)offset, import->name);
}

/* Returns whether there is a place behind each call of the function that it calls. */
static bool add_behind(struct probe_set *set, const struct probe_request *request,
		       const struct function *function)
{
	struct import import = { request->image, function->vaddr, request->behind.called };
	uint64_t size = image_symbol_size(request->image, function->name);
	struct insn_result results[INSN_RESULTS_MAX];
	uint8_t code[INSN_FUNCTION_MAX];
	size_t count;

	if (!size || size > sizeof(code) ||
	    pread(set->file, code, size, (off_t)function->file_offset) != (ssize_t)size)
		return false;
	count = insn_results(code, size, is_import, &import, results);
	if (set->count + count > PROBES_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		add_site(set, &(struct probe_site){
				      .id = request->behind.id | (uint32_t)results[i].first << 8 |
					    (uint32_t)results[i].second << 16,
				      .where = PROBE_BEHIND,
				      .file_offset = function->file_offset + results[i].offset,
				      .emulated = true });
	return count > 0;
}

struct usdt_search {
	struct probe_set *set;
	const struct probe_request *request;
	const struct probe *probe;
	bool found;
};

/* An instruction that does nothing is there. */
static int add_place(const struct usdt_place *place, void *ctx)
{
	struct usdt_search *search = ctx;
	struct probe_site site = { .where = PROBE_USDT, .emulated = true };
	int first = usdt_first_register(place);

	if (strcmp(place->provider, "hotspot") != 0 ||
	    strcmp(place->name, search->probe->symbol) != 0 ||
	    image_file_offset(search->request->image, place->vaddr, &site.file_offset))
		return 0;
	site.id = search->probe->id | (first < 0 ? 0 : (uint32_t)first) << 8;
	add_site(search->set, &site);
	search->found = true;
	return 0;
}

static bool add_places(struct probe_set *set, const struct probe_request *request,
		       const struct probe *probe)
{
	struct usdt_search search = { set, request, probe, false };

	usdt_each(request->image, add_place, &search);
	return search.found;
}

static bool add_probe(struct probe_set *set, const struct probe_request *request,
		      const struct probe *probe)
{
	struct function function;

	if (probe->where == PROBE_USDT)
		return add_places(set, request, probe);
	if (!find_symbol(request->image, probe->symbol, &function))
		return false;
	if (request->behind.called && probe->id == request->behind.probe &&
	    add_behind(set, request, &function))
		return true;
	return add_entry(set, request, probe, &function);
}

int probes_find(const struct probe_request *request, struct probe_set *out)
{
	struct probe_set set = { .multi = { -1, -1 }, .pid = request->target->pid };

	set.file = target_open_mapped(request->target, request->mapping);
	if (set.file < 0)
		return set.file;
	probes_borrow(&set, request->object, request->group, request->links);
	for (size_t i = 0; i < request->count && set.count < PROBES_MAX; i++)
		if (add_probe(&set, request, &request->probes[i]))
			set.found |= 1ull << i;
	if (!set.count) {
		close(set.file);
		return -ENOENT;
	}
	*out = set;
	return 0;
}

/* ---- links */

/* Whether a site is one of the set's first link or, at_return, of the other. */
static bool is_linked(const struct probe_set *set, const struct probe_site *site, bool at_return)
{
	if (at_return)
		return site->where == PROBE_CALL;
	return set->links != PROBE_SESSION || site->where != PROBE_CALL;
}

/*
 * A session is for calls whose return is wanted, and for nothing else. Where another process runs
 * the same code and is probed by a link of its own, the kernel takes a session for one that wants
 * the return: at a place behind the function's start it would then overwrite a saved register.
 */
static int attach_multi_sites(struct probe_set *set, bool at_return)
{
	uint64_t offsets[PROBES_MAX], cookies[PROBES_MAX];
	bool session = at_return && set->links == PROBE_SESSION;
	struct multi_attr attr = {
		.program = (uint32_t)bpf_program__fd(at_return ? set->at_return : set->entry),
		.attach_type = session ? ATTACH_SESSION : ATTACH_MULTI,
		.offsets = address_of(offsets),
		.cookies = address_of(cookies),
		.multi_flags = at_return && !session ? MULTI_RETURN : 0,
		.pid = (uint32_t)set->pid,
	};
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", set->file);
	attr.path = address_of(path);
	for (size_t i = 0; i < set->count; i++) {
		if (!is_linked(set, &set->sites[i], at_return))
			continue;
		offsets[attr.count] = set->sites[i].file_offset;
		cookies[attr.count++] = set->sites[i].id;
	}
	if (!attr.count)
		return 0;
	fd = link_multi(&attr);
	if (fd < 0)
		return fd;
	set->multi[at_return] = fd;
	return 0;
}

/* Returns first: a call that is seen to begin is also seen to end. */
static int attach_multi(struct probe_set *set)
{
	int err = attach_multi_sites(set, true);

	return err ? err : attach_multi_sites(set, false);
}

static int attach_one(struct probe_set *set, size_t at, bool at_return)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = set->sites[at].id, .retprobe = at_return);
	const struct bpf_program *program = at_return ? set->at_return : set->entry;
	char path[64];
	struct bpf_link *link;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", set->file);
	link = bpf_program__attach_uprobe_opts(program, set->pid, path, set->sites[at].file_offset,
					       &opts);
	if (!link)
		return -errno;
	set->single[2 * at + at_return] = link;
	return 0;
}

static int attach_single(struct probe_set *set)
{
	int err = 0;

	/* Returns first, as above. */
	for (size_t i = 0; i < set->count && !err; i++) {
		if (set->sites[i].where == PROBE_CALL)
			err = attach_one(set, i, true);
		if (!err)
			err = attach_one(set, i, false);
	}
	return err;
}

int probes_attach(struct probe_set *set)
{
	int err = set->links == PROBE_SINGLE ? attach_single(set) : attach_multi(set);

	if (err) {
		if (err != -ESRCH)
			log_error("pid %d: probes cannot be attached: %s", set->pid,
				  strerror(-err));
		set->attached = true;
		probes_detach(set);
		return err;
	}
	set->attached = true;
	return 0;
}

void probes_detach(struct probe_set *set)
{
	if (!set->attached)
		return;
	for (size_t i = 0; i < 2; i++) {
		if (set->multi[i] >= 0)
			close(set->multi[i]);
		set->multi[i] = -1;
	}
	for (size_t i = 0; i < 2 * set->count; i++) {
		bpf_link__destroy(set->single[i]);
		set->single[i] = NULL;
	}
	set->attached = false;
}

void probes_want(struct probe_set *set, bool attached)
{
	if (!set->count || attached == set->attached)
		return;
	if (attached)
		probes_attach(set);
	else
		probes_detach(set);
}

static void *close_link(void *arg)
{
	int *fd = arg;

	close(*fd);
	free(fd);
	return NULL;
}

/* The kernel waits some 40 ms until nobody runs what a link held, for several at the same time. */
static void close_aside(int *fd)
{
	int *copy = malloc(sizeof(*copy));
	pthread_t thread;

	if (copy)
		*copy = *fd;
	if (!copy || pthread_create(&thread, NULL, close_link, copy)) {
		free(copy);
		close(*fd);
	} else {
		pthread_detach(thread);
	}
	*fd = -1;
}

struct single_links {
	size_t count;
	struct bpf_link *links[2 * PROBES_MAX];
};

static void *destroy_links(void *arg)
{
	struct single_links *single = arg;

	for (size_t i = 0; i < single->count; i++)
		bpf_link__destroy(single->links[i]);
	free(single);
	return NULL;
}

/* Without memory or a thread they are left to probes_detach(). */
static void destroy_aside(struct probe_set *set)
{
	struct single_links *single = malloc(sizeof(*single));
	pthread_t thread;

	if (!single)
		return;
	single->count = 2 * set->count;
	memcpy(single->links, set->single, single->count * sizeof(single->links[0]));
	if (pthread_create(&thread, NULL, destroy_links, single)) {
		free(single);
		return;
	}
	pthread_detach(thread);
	memset(set->single, 0, sizeof(set->single));
}

void probes_free(struct probe_set *set)
{
	if (set->attached && set->links == PROBE_SINGLE)
		destroy_aside(set);
	for (size_t i = 0; i < 2 && set->attached; i++)
		if (set->multi[i] >= 0)
			close_aside(&set->multi[i]);
	probes_detach(set);
	if (set->count)
		close(set->file);
	*set = (struct probe_set){ 0 };
}
