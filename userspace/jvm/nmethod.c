/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/nmethod.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/debuginfo.h"
#include "target/target.h"

#define DEBUG_BYTES_MAX (16u << 20) /* PcDescs and scopes of one nmethod; 200 KiB is large */
#define METADATA_MAX	16384	    /* entries of one nmethod; 400 is large */
#define SCOPES_MAX	262144	    /* scopes decoded when one is first seen */
#define CHAIN_MAX	1024	    /* scopes of one pc */

/* Where the debug information of one nmethod lies in the target. */
struct places {
	uint64_t pcs;
	uint64_t pcs_size;
	uint64_t scopes;
	uint64_t scopes_size;
	uint64_t metadata;
	uint64_t metadata_size;
};

static uint64_t key_of(uint64_t address, uint32_t compile_id)
{
	uint64_t words[2] = { address, compile_id };

	return map64_hash(words, sizeof(words));
}

static const struct nmethod *find_known(const struct nmethods *n, uint64_t address,
					uint32_t compile_id)
{
	const struct nmethod *found;
	uint32_t number;

	if (!map64_get(&n->by_key, key_of(address, compile_id), &number))
		return NULL;
	found = n->ring[number % NMETHODS_MAX];
	return found->address == address && found->compile_id == compile_id ? found : NULL;
}

static void drop_oldest(struct nmethods *n)
{
	struct nmethod **place = &n->ring[n->first % NMETHODS_MAX];
	uint64_t key = key_of((*place)->address, (*place)->compile_id);
	uint32_t number;

	if (map64_get(&n->by_key, key, &number) && number == n->first)
		map64_remove(&n->by_key, key);
	n->bytes -= (*place)->bytes;
	free(*place);
	*place = NULL;
	n->first++;
}

static int remember(struct nmethods *n, struct nmethod *nmethod)
{
	if (!n->ring) {
		n->ring = calloc(NMETHODS_MAX, sizeof(*n->ring));
		if (!n->ring)
			return -ENOMEM;
	}
	while (n->next - n->first == NMETHODS_MAX ||
	       (n->next != n->first && n->bytes + nmethod->bytes > NMETHODS_BYTES))
		drop_oldest(n);
	if (map64_set(&n->by_key, key_of(nmethod->address, nmethod->compile_id), n->next))
		return -ENOMEM;
	n->ring[n->next++ % NMETHODS_MAX] = nmethod;
	n->bytes += nmethod->bytes;
	return 0;
}

/* JDK 23+: PcDescs, then scopes, in a block of their own. */
static void places_immutable(const struct fields *f, const uint8_t *head, size_t size,
			     struct places *p)
{
	uint64_t data = field_of(f->nmethod_immutable_data, head, size);
	uint64_t end = field_of(f->nmethod_immutable_data_size, head, size);
	uint64_t scopes = field_of(f->nmethod_scopes_offset, head, size);
	uint64_t pcs = field_of(f->nmethod_pcs_offset, head, size);

	p->pcs = data + pcs;
	p->pcs_size = scopes - pcs;
	p->scopes = data + scopes;
	p->scopes_size = end - scopes;
}

/* Before: scopes, then PcDescs, behind the code. */
static void places_inside(const struct fields *f, uint64_t address, const uint8_t *head,
			  size_t size, struct places *p)
{
	uint64_t pcs = field_of(f->nmethod_pcs_offset, head, size);

	p->pcs = address + pcs;
	p->pcs_size = field_of(f->nmethod_dependencies_offset, head, size) - pcs;
	p->scopes = field_exists(f->nmethod_scopes_begin)
			    ? field_of(f->nmethod_scopes_begin, head, size)
			    : address + field_of(f->nmethod_scopes_offset, head, size);
	p->scopes_size = p->pcs - p->scopes;
}

/* Three places in the course of time; the size is an upper bound in the second. */
static void place_metadata(const struct fields *f, uint64_t address, const uint8_t *head,
			   size_t size, struct places *p)
{
	uint64_t skip = field_of(f->blob_relocation_size, head, size);
	uint64_t offset = field_of(f->nmethod_metadata_offset, head, size);

	if (field_exists(f->blob_mutable_data)) {
		p->metadata = field_of(f->blob_mutable_data, head, size) + skip;
		p->metadata_size = field_of(f->blob_mutable_data_size, head, size) - skip;
	} else if (field_exists(f->nmethod_immutable_data)) {
		p->metadata = address + field_of(f->blob_data_offset, head, size) + offset;
		p->metadata_size = address + field_of(f->blob_size, head, size) - p->metadata;
	} else {
		p->metadata = address + offset;
		p->metadata_size = p->scopes - p->metadata;
	}
}

/* Sizes that came out negative are huge here. */
static int find_places(const struct hotspot *h, uint64_t address, const uint8_t *head,
		       struct places *p)
{
	const struct fields *f = &h->field;
	size_t size = h->nmethod_header;

	if (field_exists(f->nmethod_immutable_data))
		places_immutable(f, head, size, p);
	else
		places_inside(f, address, head, size, p);
	place_metadata(f, address, head, size, p);
	if (p->pcs_size > DEBUG_BYTES_MAX || p->scopes_size > DEBUG_BYTES_MAX)
		return -EBADMSG;
	p->pcs_size -= p->pcs_size % PC_DESC_BYTES;
	/* Padding and foreign data may follow; no scope names what is over the limit. */
	if (p->metadata_size > METADATA_MAX * sizeof(uint64_t))
		p->metadata_size =
			p->metadata_size > DEBUG_BYTES_MAX ? 0 : METADATA_MAX * sizeof(uint64_t);
	p->metadata_size -= p->metadata_size % sizeof(uint64_t);
	return 0;
}

/* One allocation: the struct, pointers to methods, PcDescs, scopes. */
static struct nmethod *allocate(const struct places *p)
{
	size_t pointers = p->metadata_size / sizeof(uint64_t) * sizeof(void *);
	size_t total = sizeof(struct nmethod) + pointers + p->pcs_size + p->scopes_size;
	struct nmethod *nmethod = calloc(1, total);
	uint8_t *behind;

	if (!nmethod)
		return NULL;
	behind = (uint8_t *)(nmethod + 1);
	nmethod->bytes = total;
	nmethod->methods = (const struct method **)(void *)behind;
	nmethod->methods_count = (uint32_t)(p->metadata_size / sizeof(uint64_t));
	nmethod->pcs = behind + pointers;
	nmethod->pcs_count = (uint32_t)(p->pcs_size / PC_DESC_BYTES);
	nmethod->scopes = behind + pointers + p->pcs_size;
	nmethod->scopes_size = (uint32_t)p->scopes_size;
	return nmethod;
}

static int copy_debug_info(const struct target *t, const struct places *p,
			   const struct nmethod *nmethod, uint64_t *metadata)
{
	int err = 0;

	if (p->pcs_size)
		err = target_read(t, p->pcs, nmethod->pcs, p->pcs_size);
	if (!err && p->scopes_size)
		err = target_read(t, p->scopes, nmethod->scopes, p->scopes_size);
	if (!err && p->metadata_size)
		err = target_read(t, p->metadata, metadata, p->metadata_size);
	return err;
}

/* Reads the methods that the scopes of one PcDesc name. Returns the scopes seen or -errno. */
static int resolve_chain(struct nmethods *n, const struct nmethod *nmethod, uint32_t offset,
			 const uint64_t *metadata)
{
	unsigned int bias = n->methods->bias;
	struct scope scope;
	int seen = 0, err;

	for (; offset && seen < CHAIN_MAX; seen++, offset = scope.sender) {
		if (debuginfo_scope(nmethod->scopes, nmethod->scopes_size, bias, offset, &scope))
			break;
		if (!scope.method || scope.method > nmethod->methods_count ||
		    nmethod->methods[scope.method - 1])
			continue;
		err = methods_get(n->methods, metadata[scope.method - 1],
				  &nmethod->methods[scope.method - 1]);
		/* What cannot be read now cannot be named later. */
		if (err == -ENOMEM || err == -ESRCH)
			return err;
	}
	return seen;
}

static int resolve_methods(struct nmethods *n, const struct nmethod *nmethod,
			   const uint64_t *metadata)
{
	uint32_t offset;
	size_t scopes = 0;
	int seen;

	for (uint32_t i = 0; i < nmethod->pcs_count && scopes < SCOPES_MAX; i++) {
		memcpy(&offset, nmethod->pcs + (size_t)i * PC_DESC_BYTES + sizeof(int32_t),
		       sizeof(offset));
		seen = resolve_chain(n, nmethod, offset, metadata);
		if (seen < 0)
			return seen;
		scopes += (size_t)seen;
	}
	return 0;
}

/* Whether the nmethod still is the one whose head was read. */
static int check_same(const struct nmethods *n, uint64_t address, const uint8_t *head)
{
	const struct fields *f = &n->hotspot->field;
	uint8_t again[JVS_BLOB_HEADER_MAX];
	size_t size = n->hotspot->nmethod_header;
	int err = target_read(n->target, address, again, size);

	if (err)
		return err;
	if (field_of(f->nmethod_compile_id, again, size) !=
		    field_of(f->nmethod_compile_id, head, size) ||
	    field_of(f->blob_name, again, size) != field_of(f->blob_name, head, size))
		return -ESTALE;
	return 0;
}

/* The name pointer is known soon after the start; before, the name is read. */
static bool is_native(const struct nmethods *n, uint64_t name)
{
	char text[16];

	if (n->native_name)
		return name == n->native_name;
	return target_read_string(n->target, name, text, sizeof(text)) > 0 &&
	       !strcmp(text, "native nmethod");
}

static int fill(struct nmethods *n, const struct places *p, const uint8_t *head,
		struct nmethod *nmethod)
{
	const struct fields *f = &n->hotspot->field;
	size_t size = n->hotspot->nmethod_header;
	uint64_t *metadata;
	int err;

	nmethod->compile_id = (uint32_t)field_of(f->nmethod_compile_id, head, size);
	nmethod->level = (int)field_of(f->nmethod_level, head, size);
	metadata = malloc(p->metadata_size + sizeof(*metadata));
	if (!metadata)
		return -ENOMEM;
	err = copy_debug_info(n->target, p, nmethod, metadata);
	if (!err)
		err = resolve_methods(n, nmethod, metadata);
	free(metadata);
	if (err)
		return err;
	err = methods_get(n->methods, field_of(f->nmethod_method, head, size), &nmethod->method);
	if (err == -ENOMEM || err == -ESRCH)
		return err;
	return check_same(n, nmethod->address, head);
}

static int read_nmethod(struct nmethods *n, uint64_t address, const uint8_t *head,
			const struct nmethod **out)
{
	uint64_t name = field_of(n->hotspot->field.blob_name, head, n->hotspot->nmethod_header);
	struct places places = { 0 };
	struct nmethod *nmethod;
	bool native;
	int err = 0;

	/* A native wrapper has no debug information worth copying. */
	native = is_native(n, name);
	if (!native)
		err = find_places(n->hotspot, address, head, &places);
	if (err)
		return err;
	nmethod = allocate(&places);
	if (!nmethod)
		return -ENOMEM;
	nmethod->address = address;
	nmethod->native = native;
	err = fill(n, &places, head, nmethod);
	if (!err)
		err = remember(n, nmethod);
	if (err) {
		free(nmethod);
		return err;
	}
	*out = nmethod;
	return 0;
}

int nmethods_get(struct nmethods *nmethods, uint64_t address, uint32_t compile_id,
		 const struct nmethod **out)
{
	const struct fields *f = &nmethods->hotspot->field;
	const struct nmethod *known = find_known(nmethods, address, compile_id);
	uint8_t head[JVS_BLOB_HEADER_MAX];
	size_t size = nmethods->hotspot->nmethod_header;
	int err;

	if (known) {
		*out = known;
		return 0;
	}
	err = target_read(nmethods->target, address, head, size);
	if (err)
		return err;
	if ((uint32_t)field_of(f->nmethod_compile_id, head, size) != compile_id)
		return -ESTALE;
	return read_nmethod(nmethods, address, head, out);
}

static enum jvm_frame_type compiler_of(int level)
{
	return level >= 1 && level <= 3 ? JVM_FRAME_C1 : JVM_FRAME_C2;
}

static int shown_level(int level)
{
	return level >= 1 && level <= 4 ? level : 0;
}

/* The whole nmethod as one frame: a native wrapper, or code without debug information here. */
static int describe_plain(const struct nmethod *nmethod, struct jvm_frame *out)
{
	bool native = nmethod->native || (nmethod->method && nmethod->method->shown.native);

	if (!nmethod->method)
		return -ESTALE;
	*out = (struct jvm_frame){
		.type = native ? JVM_FRAME_NATIVE : compiler_of(nmethod->level),
		.method = &nmethod->method->shown,
		.bci = -1,
		.line = native ? -2 : -1,
		.level = shown_level(nmethod->level),
	};
	return 1;
}

static const struct method *scope_method(const struct nmethod *nmethod, const struct scope *scope)
{
	if (!scope->method)
		return nmethod->method;
	return scope->method <= nmethod->methods_count ? nmethod->methods[scope->method - 1] : NULL;
}

int nmethod_describe(const struct nmethods *nmethods, const struct nmethod *nmethod,
		     uint32_t offset, bool leaf, struct jvm_frame out[JVM_INLINE_MAX])
{
	const struct method *method;
	struct scope scope;
	uint32_t at = 0;
	int count = 0;
	size_t links;

	if (!nmethod->native &&
	    !debuginfo_find_pc(nmethod->pcs, nmethod->pcs_count, offset, leaf, &at))
		at = 0;
	if (nmethod->native || !at)
		return describe_plain(nmethod, out);

	for (links = 0; at && links < CHAIN_MAX; links++, at = scope.sender) {
		if (debuginfo_scope(nmethod->scopes, nmethod->scopes_size, nmethods->methods->bias,
				    at, &scope))
			return -EBADMSG;
		method = scope_method(nmethod, &scope);
		if (!method)
			return -ESTALE;
		/* Beyond the limit the outermost ones replace each other in the last place. */
		if (count == JVM_INLINE_MAX)
			count--;
		out[count++] = (struct jvm_frame){
			.type = scope.sender ? JVM_FRAME_INLINED : compiler_of(nmethod->level),
			.method = &method->shown,
			.bci = scope.bci,
			.line = method_line(nmethods->methods, method, scope.bci),
			.level = shown_level(nmethod->level),
		};
	}
	return count;
}

size_t nmethods_memory(const struct nmethods *nmethods)
{
	return nmethods->bytes + (nmethods->ring ? NMETHODS_MAX * sizeof(*nmethods->ring) : 0) +
	       nmethods->by_key.capacity * sizeof(struct map64_slot);
}

void nmethods_free(struct nmethods *nmethods)
{
	while (nmethods->first != nmethods->next)
		drop_oldest(nmethods);
	free(nmethods->ring);
	map64_free(&nmethods->by_key);
	nmethods->ring = NULL;
	nmethods->first = 0;
	nmethods->next = 0;
}
