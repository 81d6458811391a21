/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/nmethod.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/debuginfo.h"
#include "target/target.h"

#define DEBUG_BYTES_MAX (16u << 20) /* PcDescs and scopes of one nmethod; 200 KiB is large */
#define METADATA_MAX	16384	    /* entries of one nmethod; 400 is large */
#define CHAIN_MAX	1024	    /* scopes of one pc */
#define HEAP_BLOCK_MAX	64	    /* bytes before a blob; layout.c checks it */

/* A bci for code that has none; -1 is method entry. */
#define BCI_PLAIN (-2)

#define LINE_UNKNOWN (-1)
#define LINE_NATIVE  (-2)

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

static struct nmethod *find_known(const struct nmethods *n, uint64_t address, uint32_t compile_id)
{
	struct nmethod *found;
	uint32_t number;

	if (!map64_get(&n->by_key, key_of(address, compile_id), &number))
		return NULL;
	found = n->ring[number % NMETHODS_MAX];
	return found->address == address && found->identity.compile_id == compile_id ? found : NULL;
}

static void drop_oldest(struct nmethods *n)
{
	struct nmethod **place = &n->ring[n->first % NMETHODS_MAX];
	uint64_t key = key_of((*place)->address, (*place)->identity.compile_id);
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
	if (map64_set(&n->by_key, key_of(nmethod->address, nmethod->identity.compile_id), n->next))
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

/*
 * The head of an nmethod with that of its block before it. The one says which it is, the other
 * that it still is one.
 */
struct head {
	uint64_t address;
	const uint8_t *bytes; /* of the nmethod */
	uint8_t block[HEAP_BLOCK_MAX + JVS_BLOB_HEADER_MAX];
};

static struct target_part head_part(const struct nmethods *n, uint64_t address, struct head *out)
{
	size_t before = n->hotspot->heap_block_size;

	out->address = address;
	out->bytes = out->block + before;
	return (struct target_part){ address - before, out->block,
				     before + n->hotspot->nmethod_header, 0 };
}

static int read_head(const struct nmethods *n, uint64_t address, struct head *out)
{
	struct target_part part = head_part(n, address, out);

	return target_read(n->target, part.addr, part.to, part.size);
}

static uint64_t of_head(const struct nmethods *n, const struct head *head, struct field f)
{
	return field_of(f, head->bytes, n->hotspot->nmethod_header);
}

static struct identity identity_of(const struct nmethods *n, const struct head *head)
{
	const struct fields *f = &n->hotspot->field;

	return (struct identity){
		.compile_id = (uint32_t)of_head(n, head, f->nmethod_compile_id),
		.used = field_of(f->block_used, head->block, n->hotspot->heap_block_size) != 0,
		.name = of_head(n, head, f->blob_name),
		.method = of_head(n, head, f->nmethod_method),
	};
}

/* Whether by this head it still is there: not freed, not unloaded, not another at its place. */
static bool is_same(const struct nmethods *n, const struct nmethod *nmethod,
		    const struct head *head)
{
	struct identity now = identity_of(n, head);

	return now.used && now.compile_id == nmethod->identity.compile_id &&
	       now.name == nmethod->identity.name && now.method == nmethod->identity.method;
}

static int check_same(const struct nmethods *n, const struct nmethod *nmethod)
{
	struct head head;
	int err = read_head(n, nmethod->address, &head);

	if (err)
		return err;
	return is_same(n, nmethod, &head) ? 0 : -ESTALE;
}

/*
 * One allocation: the struct, addresses of methods, pointers to methods, PcDescs, scopes. The
 * nmethod's own method comes behind those that its scopes name.
 */
static struct nmethod *allocate(const struct places *p)
{
	size_t count = p->metadata_size / sizeof(uint64_t) + 1;
	size_t addresses = count * sizeof(uint64_t), pointers = count * sizeof(void *);
	size_t total = sizeof(struct nmethod) + addresses + pointers + p->pcs_size + p->scopes_size;
	struct nmethod *nmethod = calloc(1, total);
	uint8_t *behind;

	if (!nmethod)
		return NULL;
	behind = (uint8_t *)(nmethod + 1);
	nmethod->bytes = total;
	nmethod->addresses = (uint64_t *)(void *)behind;
	nmethod->methods = (const struct method **)(void *)(behind + addresses);
	nmethod->methods_count = (uint32_t)count;
	nmethod->pcs = behind + addresses + pointers;
	nmethod->pcs_count = (uint32_t)(p->pcs_size / PC_DESC_BYTES);
	nmethod->scopes = nmethod->pcs + p->pcs_size;
	nmethod->scopes_size = (uint32_t)p->scopes_size;
	return nmethod;
}

/* The head is read last: it testifies to the others. */
static int copy_debug_info(const struct nmethods *n, const struct places *p,
			   const struct nmethod *nmethod)
{
	struct head head;
	struct target_part parts[] = {
		{ p->pcs, nmethod->pcs, p->pcs_size, 0 },
		{ p->scopes, nmethod->scopes, p->scopes_size, 0 },
		{ p->metadata, nmethod->addresses, p->metadata_size, 0 },
		head_part(n, nmethod->address, &head),
	};
	int err = target_read_parts(n->target, parts, 4);

	for (size_t i = 0; i < 4 && !err; i++)
		err = parts[i].size ? parts[i].err : 0;
	if (err)
		return err;
	return is_same(n, nmethod, &head) ? 0 : -ESTALE;
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

static int read_nmethod(struct nmethods *n, const struct head *head, struct nmethod **out)
{
	const struct fields *f = &n->hotspot->field;
	struct identity identity = identity_of(n, head);
	bool native = is_native(n, identity.name);
	struct places places = { 0 };
	struct nmethod *nmethod;
	int err = 0;

	/* A native wrapper has no debug information worth copying. */
	if (!native)
		err = find_places(n->hotspot, head->address, head->bytes, &places);
	if (err)
		return err;
	nmethod = allocate(&places);
	if (!nmethod)
		return -ENOMEM;
	nmethod->address = head->address;
	nmethod->identity = identity;
	nmethod->native = native;
	nmethod->level = (int)of_head(n, head, f->nmethod_level);
	nmethod->addresses[nmethod->methods_count - 1] = identity.method;
	err = native ? 0 : copy_debug_info(n, &places, nmethod);
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
		 struct nmethod **out)
{
	struct nmethod *known = find_known(nmethods, address, compile_id);
	struct head head;
	int err;

	if (known) {
		*out = known;
		return 0;
	}
	err = read_head(nmethods, address, &head);
	if (err)
		return err;
	if (identity_of(nmethods, &head).compile_id != compile_id ||
	    !identity_of(nmethods, &head).used)
		return -ESTALE;
	return read_nmethod(nmethods, &head, out);
}

static enum jvm_frame_type compiler_of(int level)
{
	return level >= 1 && level <= 3 ? JVM_FRAME_C1 : JVM_FRAME_C2;
}

static int shown_level(int level)
{
	return level >= 1 && level <= 4 ? level : 0;
}

/* One activation inside compiled code. method: index into methods. */
struct activation {
	uint32_t method;
	int bci;
	bool inlined;
};

/*
 * The activations at a pc, innermost first. Beyond the limit the outermost ones replace each other
 * in the last place. Returns how many, -EBADMSG, or -ESTALE (names what is not there).
 */
static int decode_chain(const struct nmethods *n, const struct nmethod *nmethod, uint32_t offset,
			struct activation out[JVM_INLINE_MAX])
{
	struct scope scope;
	int count = 0;

	for (size_t links = 0; offset && links < CHAIN_MAX; links++, offset = scope.sender) {
		if (debuginfo_scope(nmethod->scopes, nmethod->scopes_size, n->methods->bias, offset,
				    &scope))
			return -EBADMSG;
		if (scope.method >= nmethod->methods_count)
			return -ESTALE;
		if (count == JVM_INLINE_MAX)
			count--;
		out[count++] = (struct activation){
			.method = scope.method ? scope.method - 1 : nmethod->methods_count - 1,
			.bci = scope.bci,
			.inlined = scope.sender != 0,
		};
	}
	return count;
}

/*
 * Reads the methods that have no name yet. While the nmethod is there, what it names was not
 * unloaded, so it is looked at afterwards.
 */
static int name_methods(struct nmethods *n, struct nmethod *nmethod, const struct activation *chain,
			int count)
{
	const struct method *found[JVM_INLINE_MAX];
	uint64_t addresses[JVM_INLINE_MAX];
	uint32_t wanted[JVM_INLINE_MAX];
	size_t missing = 0;
	int err;

	for (int i = 0; i < count; i++) {
		if (nmethod->methods[chain[i].method])
			continue;
		wanted[missing] = chain[i].method;
		addresses[missing++] = nmethod->addresses[chain[i].method];
	}
	if (!missing)
		return 0;
	err = methods_get_some(n->methods, addresses, missing, found);
	if (!err)
		err = check_same(n, nmethod);
	for (size_t i = 0; i < missing && !err; i++)
		nmethod->methods[wanted[i]] = found[i];
	return err;
}

static enum jvm_frame_type type_of(const struct nmethod *nmethod, const struct activation *at)
{
	if (nmethod->native || (at->bci == BCI_PLAIN && nmethod->methods[at->method]->shown.native))
		return JVM_FRAME_NATIVE;
	return at->inlined ? JVM_FRAME_INLINED : compiler_of(nmethod->level);
}

static int line_of(const struct nmethods *n, const struct nmethod *nmethod,
		   const struct activation *at, enum jvm_frame_type type)
{
	if (type == JVM_FRAME_NATIVE)
		return LINE_NATIVE;
	if (at->bci == BCI_PLAIN)
		return LINE_UNKNOWN;
	return method_line(n->methods, nmethod->methods[at->method], at->bci);
}

int nmethod_describe(struct nmethods *nmethods, struct nmethod *nmethod, uint32_t offset, bool leaf,
		     struct jvm_frame out[JVM_INLINE_MAX])
{
	struct activation chain[JVM_INLINE_MAX];
	enum jvm_frame_type type;
	uint32_t scope = 0;
	int count, err;

	if (!nmethod->native &&
	    !debuginfo_find_pc(nmethod->pcs, nmethod->pcs_count, offset, leaf, &scope))
		scope = 0;
	/* The whole nmethod as one frame: a native wrapper, or a pc nothing was noted for. */
	chain[0] = (struct activation){ nmethod->methods_count - 1, BCI_PLAIN, false };
	count = scope ? decode_chain(nmethods, nmethod, scope, chain) : 1;
	if (count < 0)
		return count;
	err = name_methods(nmethods, nmethod, chain, count);
	if (err)
		return err;
	for (int i = 0; i < count; i++) {
		if (!nmethod->methods[chain[i].method])
			return -ESTALE;
		type = type_of(nmethod, &chain[i]);
		out[i] = (struct jvm_frame){
			.type = type,
			.method = &nmethod->methods[chain[i].method]->shown,
			.bci = chain[i].bci == BCI_PLAIN ? -1 : chain[i].bci,
			.line = line_of(nmethods, nmethod, &chain[i], type),
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
