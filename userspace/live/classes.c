/* SPDX-License-Identifier: Apache-2.0 */
#include "live/classes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "jvm/jvm.h"
#include "jvm/loader.h"
#include "live/classes_impl.h"
#include "live/cost.h"
#include "live/keys.h"
#include "live/process.h"
#include "model/recording.h"
#include "target/image.h"
#include "target/target.h"

#define GROUP		 "class"
#define TRIE_WORDS_LEAST 16 /* bytes: a step reads four units at once */

/* Names are the same on JDK 11 to 28, but where Thread became JavaThread (17). */
static const struct probe count_sites[] = {
	{ "_ZN5Klass22append_to_sibling_listEv", PROBE_ENTRY, JVS_CLASS_SITE_LOAD },
	{ "_ZN19ClassLoadingService21notify_class_unloadedEP13InstanceKlass", PROBE_ENTRY,
	  JVS_CLASS_SITE_UNLOAD },
};

static const struct probe sites[] = {
	{ "_ZN12KlassFactory18create_from_streamEP15ClassFileStreamP6SymbolP15ClassLoaderData"
	  "RK13ClassLoadInfoP10JavaThread",
	  PROBE_ENTRY, JVS_CLASS_SITE_PARSE },
	{ "_ZN12KlassFactory18create_from_streamEP15ClassFileStreamP6SymbolP15ClassLoaderData"
	  "6HandlePK13InstanceKlassP13GrowableArrayIS6_EP6Thread",
	  PROBE_ENTRY, JVS_CLASS_SITE_PARSE },
	{ "_ZN15ClassFileParserC1EP15ClassFileStreamP6SymbolP15ClassLoaderDataPK13ClassLoadInfo"
	  "NS_9PublicityEP10JavaThread",
	  PROBE_ENTRY, JVS_CLASS_SITE_PARSER },
	{ "_ZN15ClassFileParserC1EP15ClassFileStreamP6SymbolP15ClassLoaderData6HandlePK13"
	  "InstanceKlassP13GrowableArrayIS6_ENS_9PublicityEP6Thread",
	  PROBE_ENTRY, JVS_CLASS_SITE_PARSER },
	{ "_ZN15ClassFileParserD1Ev", PROBE_ENTRY, JVS_CLASS_SITE_PARSED },
	{ "_ZN11JvmtiExport25post_class_file_load_hookEP6Symbol6HandleS2_PPhS4_"
	  "PP24JvmtiCachedClassFileData",
	  PROBE_ENTRY, JVS_CLASS_SITE_HOOK },
	{ "_ZN19ClassLoadingService19notify_class_loadedEP13InstanceKlassb", PROBE_ENTRY,
	  JVS_CLASS_SITE_NOTIFIED },
	{ "_ZN18VM_RedefineClasses21redefine_single_classEP6ThreadP7_jclassP13InstanceKlass",
	  PROBE_ENTRY, JVS_CLASS_SITE_REDEFINED },
	{ "_ZN18VM_RedefineClasses21redefine_single_classEP7_jclassP13InstanceKlassP6Thread",
	  PROBE_ENTRY, JVS_CLASS_SITE_REDEFINED_11 },
	{ "_ZN15ClassLoaderDataC1E6Handleb", PROBE_ENTRY, JVS_CLASS_SITE_LOADER },
	{ "_ZN15ClassLoaderData6unloadEv", PROBE_ENTRY, JVS_CLASS_SITE_LOADER_END },
	{ "_ZN2os19find_agent_functionEP12AgentLibrarybPPKcm", PROBE_ENTRY, JVS_CLASS_SITE_AGENT },
	{ "_ZN2os19find_agent_functionEP10JvmtiAgentbPKc", PROBE_ENTRY, JVS_CLASS_SITE_AGENT },
	{ "_ZN2os19find_agent_functionEP10JvmtiAgentbPPKcm", PROBE_ENTRY, JVS_CLASS_SITE_AGENT },
	{ "_ZN9Arguments16add_loaded_agentEP12AgentLibrary", PROBE_ENTRY,
	  JVS_CLASS_SITE_AGENT_LOADED },
};

/* How far a JVM is that has not begun its main. The JNI functions are called often after that. */
static const struct probe start_sites[] = {
	{ "_ZN11JvmtiExport19post_vm_initializedEv", PROBE_ENTRY, JVS_CLASS_SITE_VM_INITIALIZED },
	{ "jni_CallVoidMethod", PROBE_ENTRY, JVS_CLASS_SITE_PREMAIN },
	{ "jni_CallStaticVoidMethod", PROBE_ENTRY, JVS_CLASS_SITE_MAIN },
	{ "_ZN11JvmtiExport22enter_primordial_phaseEv", PROBE_ONCE, JVS_CLASS_SITE_AGENTS_LOADED },
};

/* What a class takes beside being parsed. Initializers are also what agents do before main. */
static const struct probe phase_sites[] = {
	{ "_ZN13InstanceKlass22call_class_initializerEP10JavaThread", PROBE_ENTRY,
	  JVS_CLASS_SITE_INIT },
	{ "_ZN13InstanceKlass22call_class_initializerEP6Thread", PROBE_ENTRY, JVS_CLASS_SITE_INIT },
	{ "_ZN13InstanceKlass35set_initialization_state_and_notifyENS_10ClassStateEP10JavaThread",
	  PROBE_ENTRY, JVS_CLASS_SITE_INITIALIZED },
	{ "_ZN13InstanceKlass35set_initialization_state_and_notifyENS_10ClassStateEP6Thread",
	  PROBE_ENTRY, JVS_CLASS_SITE_INITIALIZED },
	{ "_ZN11ClassLoader10load_classEP6SymbolbP10JavaThread", PROBE_ENTRY, JVS_CLASS_SITE_READ },
	{ "_ZN11ClassLoader10load_classEP6SymbolP12PackageEntrybP10JavaThread", PROBE_ENTRY,
	  JVS_CLASS_SITE_READ },
	{ "_ZN11ClassLoader10load_classEP6SymbolbP6Thread", PROBE_ENTRY, JVS_CLASS_SITE_READ },
	{ "_ZN8Verifier6verifyEP13InstanceKlassbP10JavaThread", PROBE_ENTRY,
	  JVS_CLASS_SITE_VERIFY },
	{ "_ZN8Verifier6verifyEP13InstanceKlassNS_4ModeEbP6Thread", PROBE_ENTRY,
	  JVS_CLASS_SITE_VERIFY },
	{ "_ZN8Rewriter7rewriteEP13InstanceKlassP10JavaThread", PROBE_ENTRY,
	  JVS_CLASS_SITE_REWRITE },
	{ "_ZN8Rewriter7rewriteEP13InstanceKlassP6Thread", PROBE_ENTRY, JVS_CLASS_SITE_REWRITE },
	{ "_ZN13InstanceKlass12link_methodsEP10JavaThread", PROBE_FIRST, JVS_CLASS_SITE_METHODS },
	{ "_ZN13InstanceKlass12link_methodsEP6Thread", PROBE_FIRST, JVS_CLASS_SITE_METHODS },
	{ "_ZN12ObjectLockerD1Ev", PROBE_ENTRY, JVS_CLASS_SITE_UNLOCKED },
};

/* What is not known without the site. */
static const struct {
	uint32_t id;
	const char *phase;
} phases[] = {
	{ JVS_CLASS_SITE_READ, "read" },
	{ JVS_CLASS_SITE_VERIFY, "verify" },
	{ JVS_CLASS_SITE_REWRITE, "rewrite" },
	{ JVS_CLASS_SITE_METHODS, "link" },
	{ JVS_CLASS_SITE_UNLOCKED, "link" },
	{ JVS_CLASS_SITE_INIT, "initialize" },
	{ JVS_CLASS_SITE_INITIALIZED, "initialize" },
};

/* ---- loading */

static enum probe_links links_of_group(void)
{
	/* Entries alone: a session has nothing over a multi link. */
	return probes_best() == PROBE_SINGLE ? PROBE_SINGLE : PROBE_MULTI;
}

static const char *const maps[] = { "jvs_class_layouts",   "jvs_class_counts",	"jvs_class_threads",
				    "jvs_class_frames",	   "jvs_class_inits",	"jvs_class_facts",
				    "jvs_class_links",	   "jvs_class_loaders", "jvs_class_rules",
				    "jvs_class_scratches", "jvs_class_hooked",	"jvs_class_modes",
				    "trie_words" };

static int size_maps(const struct bpf_object *object, const struct trie *trie)
{
	struct bpf_map *scratches = bpf_object__find_map_by_name(object, "jvs_class_scratches");
	struct bpf_map *words = bpf_object__find_map_by_name(object, "trie_words");
	int cpus = libbpf_num_possible_cpus();
	uint32_t bytes = trie ? trie_total(trie) * 2 : 0;
	int err;

	if (cpus < 0)
		return cpus;
	err = bpf_map__set_max_entries(scratches, (uint32_t)cpus * JVS_CLASS_SCRATCHES);
	if (!err)
		err = bpf_map__set_value_size(words, bytes < TRIE_WORDS_LEAST ? TRIE_WORDS_LEAST
									      : (bytes + 7) & ~7u);
	return err;
}

int classes_choose(struct bpf_object *object, const struct trie *trie, bool wanted)
{
	enum probe_links links = wanted ? links_of_group() : PROBE_SINGLE;
	int err = probes_choose(object, GROUP, links, wanted);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, maps[i]);

		if (!map)
			return -ENOENT;
		bpf_map__set_autocreate(map, wanted);
	}
	return wanted ? size_maps(object, trie) : 0;
}

/* The words to the kernel: the map's value is a little larger than they are. */
static int install_trie(const struct bpf_object *object, const struct trie *trie)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, "trie_words");
	uint8_t *value;
	uint32_t first = 0;
	int err;

	if (!trie)
		return 0;
	value = calloc(1, bpf_map__value_size(map));
	if (!value)
		return -ENOMEM;
	memcpy(value, trie->units, (size_t)trie_total(trie) * 2);
	err = bpf_map_update_elem(bpf_map__fd(map), &first, value, BPF_ANY) ? -errno : 0;
	free(value);
	return err;
}

int classes_open(struct bpf_object *object, const struct trie *trie, double max_overhead,
		 struct classes **out)
{
	struct classes *classes = calloc(1, sizeof(*classes));
	int err;

	if (!classes)
		return -ENOMEM;
	classes->object = object;
	classes->links = links_of_group();
	classes->counts_fd = bpf_object__find_map_fd_by_name(object, "jvs_class_counts");
	classes->rules_fd = bpf_object__find_map_fd_by_name(object, "jvs_class_rules");
	classes->loaders_fd = bpf_object__find_map_fd_by_name(object, "jvs_class_loaders");
	classes->hooked_fd = bpf_object__find_map_fd_by_name(object, "jvs_class_hooked");
	classes->modes_fd = bpf_object__find_map_fd_by_name(object, "jvs_class_modes");
	classes->max_overhead = max_overhead;
	classes->trap_ns = probes_trap_ns(object, GROUP, classes->links);
	if (trie)
		classes->trie = *trie;
	classes->layouts_size = sizeof(*classes->layouts) * JVS_MAX_TARGETS;
	classes->layouts = mmap(NULL, classes->layouts_size, PROT_READ | PROT_WRITE, MAP_SHARED,
				bpf_object__find_map_fd_by_name(object, "jvs_class_layouts"), 0);
	if (classes->layouts == MAP_FAILED) {
		err = -errno;
		classes->layouts = NULL;
	} else {
		err = install_trie(object, trie);
	}
	if (err) {
		log_error("class loads: cannot be recorded: %s", strerror(-err));
		classes_close(classes);
		return err;
	}
	*out = classes;
	return 0;
}

static void target_free(struct class_target *t)
{
	for (int set = 0; set < CLASS_SETS; set++)
		probes_free(&t->sets[set]);
	map64_free(&t->live);
	map64_free(&t->loaders);
	map64_free(&t->changes);
	map64_free(&t->by_name);
	free(t->ended);
	free(t->early);
	for (size_t i = 0; i < CLASS_FILES; i++) {
		free(t->files[i].bytes[0]);
		free(t->files[i].bytes[1]);
	}
	*t = (struct class_target){ 0 };
}

void classes_give_up(struct classes *classes, struct probes_leaving *leaving)
{
	for (uint32_t i = 0; i < JVS_MAX_TARGETS; i++)
		for (int set = 0; set < CLASS_SETS; set++)
			probes_leave(&classes->targets[i].sets[set], leaving);
}

void classes_close(struct classes *classes)
{
	if (!classes)
		return;
	for (uint32_t i = 0; i < JVS_MAX_TARGETS; i++)
		target_free(&classes->targets[i]);
	if (classes->layouts)
		munmap(classes->layouts, classes->layouts_size);
	strbuf_free(&classes->normal);
	strbuf_free(&classes->raw);
	strbuf_free(&classes->text);
	free(classes->ignored.rules);
	free(classes);
}

/* ---- targets */

static bool has_site(const struct probe_set *set, uint32_t id)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->sites[i].id == id)
			return true;
	return false;
}

/* The phases that this libjvm does not show, in one line. */
static void say_missing_phases(const struct process *p, const struct probe_set *set)
{
	struct strbuf text = { 0 };
	const char *last = "";

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		if (has_site(set, phases[i].id) || !strcmp(last, phases[i].phase))
			continue;
		strbuf_puts(&text, *last ? ", " : "");
		strbuf_puts(&text, last = phases[i].phase);
	}
	if (text.len)
		log_info("pid %d: its libjvm does not show how long classes take to: %s",
			 p->target->pid, strbuf_text(&text));
	strbuf_free(&text);
}

/* Finds and attaches a set. Returns 0 or a negative errno, which was not logged. */
static int attach_set(struct probe_request *request, const struct probe *wanted, size_t count,
		      struct probe_set *set)
{
	int err;

	request->probes = wanted;
	request->count = count;
	err = probes_find(request, set);
	if (!err)
		probes_attach(set);
	return err;
}

void classes_attach(struct classes *classes, const struct process *p, struct image *image,
		    const struct mapping *mapping)
{
	struct class_target *t = &classes->targets[p->index];
	struct probe_request request = {
		.object = classes->object,
		.group = GROUP,
		.links = classes->links,
		.target = p->target,
		.image = image,
		.mapping = mapping,
	};
	int err;

	if (t->tried)
		return;
	t->tried = true;
	err = attach_set(&request, sites, sizeof(sites) / sizeof(sites[0]),
			 &t->sets[CLASS_SET_FACTS]);
	if (!err)
		err = attach_set(&request, count_sites,
				 sizeof(count_sites) / sizeof(count_sites[0]),
				 &t->sets[CLASS_SET_COUNTS]);
	if (err == -ENOENT)
		log_warn("pid %d: its libjvm has no symbols: no class loads", p->target->pid);
	else if (err)
		log_warn("pid %d: no class loads: %s", p->target->pid, strerror(-err));
	if (err)
		return;
	if (!p->jvm)
		attach_set(&request, start_sites, sizeof(start_sites) / sizeof(start_sites[0]),
			   &t->sets[CLASS_SET_START]);
	attach_set(&request, phase_sites, sizeof(phase_sites) / sizeof(phase_sites[0]),
		   &t->sets[CLASS_SET_PHASES]);
	say_missing_phases(p, &t->sets[CLASS_SET_PHASES]);
	classes_begin_budget(classes, p);
}

void classes_forget(struct classes *classes, const struct process *p)
{
	const uint32_t index = p->index, untold = 0;
	struct class_target *t = &classes->targets[index],
			    kept = { .early_arrays = t->early_arrays };

	bpf_map_update_elem(classes->hooked_fd, &index, &untold, BPF_ANY);
	bpf_map_update_elem(classes->modes_fd, &index, &untold, BPF_ANY);
	classes->layouts[index] = (struct jvs_class_layout){ 0 };
	memcpy(kept.before, t->before, sizeof(kept.before));
	target_free(t);
	*t = kept;
}

static struct keys rules_of(const struct classes *classes)
{
	return (struct keys){ .map_fd = classes->rules_fd,
			      .size = sizeof(struct jvs_class_rule_key),
			      .target_at = offsetof(struct jvs_class_rule_key, target),
			      .limit = JVS_CLASS_RULES };
}

static uint64_t kernel_count(const struct classes *classes, uint32_t target, uint32_t counter)
{
	return cost_percpu_sum(classes->counts_fd, target * JVS_CLASS_COUNT_NR + counter);
}

void classes_leave(struct classes *classes, const struct process *p)
{
	const struct keys rules = rules_of(classes);
	const struct keys loaders = { .map_fd = classes->loaders_fd,
				      .size = sizeof(struct jvs_class_loader_key),
				      .target_at = offsetof(struct jvs_class_loader_key, target),
				      .limit = JVS_CLASS_LOADERS };
	struct class_target *t = &classes->targets[p->index];

	classes_forget(classes, p);
	keys_drop(&rules, p->index);
	keys_drop(&loaders, p->index);
	for (uint32_t i = 0; i < JVS_CLASS_COUNT_NR; i++)
		t->before[i] = kernel_count(classes, p->index, i);
	t->early_arrays = 0;
}

static bool is_complete(const struct jvs_class_layout *layout)
{
	return layout->ready && layout->loader_klass != JVS_NO_FIELD;
}

/* What is read of a loader that was met before it could be. */
static void describe_loaders(struct classes *classes, const struct process *p,
			     struct recording *rec)
{
	const struct map64_slot *slot;
	size_t at = 0;

	while ((slot = map64_next(&classes->targets[p->index].loaders, &at)))
		classes_describe_loader(classes, p, rec, slot->value);
}

void classes_place(struct classes *classes, const struct process *p, struct image *image,
		   const struct mapping *mapping)
{
	struct class_target *t = &classes->targets[p->index];

	t->placed = true;
	agents_find(image, image_bias(image, mapping), &t->agents_place);
}

bool classes_placed(const struct classes *classes, const struct process *p)
{
	return classes->targets[p->index].placed;
}

bool classes_attached(const struct classes *classes, const struct process *p)
{
	return classes->targets[p->index].tried;
}

void classes_look(struct classes *classes, const struct process *p)
{
	struct jvs_class_layout *shown = &classes->layouts[p->index], layout;
	int err;

	if (!p->jvm || is_complete(shown))
		return;
	err = jvm_class_layout(p->jvm, &layout);
	if (err && err != -EAGAIN)
		return;
	if (!shown->ready) {
		layout.ready = 0;
		*shown = layout;
		__atomic_store_n(&shown->ready, 1, __ATOMIC_RELEASE);
	}
	/* The programs look at loader_klass alone. */
	shown->archive_low = layout.archive_low;
	shown->archive_high = layout.archive_high;
	shown->loader_name_and_id = layout.loader_name_and_id;
	__atomic_store_n(&shown->loader_klass, layout.loader_klass, __ATOMIC_RELEASE);
}

void classes_tick(struct classes *classes, struct decoder *d, struct process *p,
		  struct recording *rec)
{
	struct jvs_class_layout *shown = &classes->layouts[p->index];
	bool had = is_complete(shown);

	if (!p->jvm || !p->rec_jvm)
		return;
	classes_look(classes, p);
	if (shown->ready && classes->targets[p->index].early_count)
		classes_name_early(classes, d, p, rec);
	if (is_complete(shown) && !had)
		describe_loaders(classes, p, rec);
	classes_look_at_agents(classes, d, p, rec);
	if (classes->targets[p->index].in_main)
		probes_detach(&classes->targets[p->index].sets[CLASS_SET_START]);
	classes_keep_budget(classes, d, p, rec);
}

/* ---- the end */

static const char *const count_names[JVS_CLASS_COUNT_NR] = {
#define X(name, text) [JVS_CLASS_COUNT_##name] = (text),
	JVS_CLASS_COUNTER_LIST(X)
#undef X
};

static void finish_counts(struct classes *classes, const struct process *p, struct recording *rec)
{
	const struct class_target *t = &classes->targets[p->index];
	uint64_t sums[JVS_CLASS_COUNT_NR];

	for (uint32_t i = 0; i < JVS_CLASS_COUNT_NR; i++)
		sums[i] = kernel_count(classes, p->index, i) - t->before[i];
	sums[JVS_CLASS_COUNT_LOADED] -= t->early_arrays;
	sums[JVS_CLASS_COUNT_SENT] -= t->early_arrays;
	for (size_t i = 0; i < classes->ignored.count; i++) {
		if (classes->ignored.rules[i].jvm != p->rec_jvm)
			continue;
		sums[JVS_CLASS_COUNT_SENT] -= classes->ignored.rules[i].loaded;
		sums[JVS_CLASS_COUNT_IGNORED] += classes->ignored.rules[i].loaded;
	}
	for (uint32_t i = 0; i < JVS_CLASS_COUNT_NR; i++)
		rec_class_count_set(rec, p->rec_jvm, count_names[i], sums[i]);
	rec_class_count_set(rec, p->rec_jvm, "unnamed", t->early_count + t->early_lost);
}

struct finishing {
	struct classes *classes;
	const struct process *p;
	struct recording *rec;
};

static void finish_rule(const void *key, void *ctx)
{
	const struct finishing *finishing = ctx;
	struct jvs_class_rule value;

	if (!bpf_map_lookup_elem(finishing->classes->rules_fd, key, &value))
		classes_add_rule(finishing->classes, finishing->p, finishing->rec, key, &value);
}

static void finish_rules(struct classes *classes, const struct process *p, struct recording *rec)
{
	const struct keys rules = rules_of(classes);
	struct finishing finishing = { classes, p, rec };

	for (size_t i = 0; i < classes->ignored.count; i++)
		if (classes->ignored.rules[i].jvm == p->rec_jvm)
			rec_class_rule_set(rec, &classes->ignored.rules[i]);
	keys_each(&rules, p->index, finish_rule, &finishing);
}

void classes_finish(struct classes *classes, const struct decoder *d, const struct process *p,
		    struct recording *rec)
{
	if (!p->rec_jvm || !classes->targets[p->index].tried)
		return;
	finish_counts(classes, p, rec);
	finish_rules(classes, p, rec);
	classes_finish_agents(classes, p, rec);
	classes_tell_budget(classes, d, p, rec);
}
