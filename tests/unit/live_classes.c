/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/classes_impl.h"
#include "live/decode.h"
#include "model/recording.h"
#include "target/target.h"
#include "unit/fakes_live.h"
#include "unit/unit.h"

static struct process processes[JVS_MAX_TARGETS];
static uint64_t seen[JVS_SEEN_STACKS];
static struct jvs_class_layout layouts[JVS_MAX_TARGETS];
static struct classes *classes;
static struct decoder decoder;
static struct recording *rec;

static void setup(void)
{
	memset(processes, 0, sizeof(processes));
	memset(layouts, 0, sizeof(layouts));
	classes = calloc(1, sizeof(*classes));
	CU_ASSERT_PTR_NOT_NULL_FATAL(classes);
	classes->layouts = layouts;
	decoder = (struct decoder){ .processes = processes,
				    .seen = seen,
				    .slots_per_cpu = JVS_SLOTS_PER_CPU,
				    .classes = classes };
	rec = rec_new();
	ASSERT_INT(target_open(getpid(), &processes[0].target), 0);
	processes[0].rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = getpid() });
}

static void teardown(void)
{
	classes->layouts = NULL;
	classes_close(classes);
	target_close(processes[0].target);
	decode_free(&decoder);
	rec_free(rec);
}

/* ---- records */

static struct jvs_class_event event;

static void begin_event(uint32_t kind, uint64_t klass, const char *name)
{
	event = (struct jvs_class_event){
		.event = { .kind = kind, .tid = (uint32_t)getpid(), .time_ns = 1000 },
		.klass = klass,
		.loader = 0x1000,
		.name_len = (uint32_t)strlen(name),
		.name_bytes = (uint32_t)strlen(name),
	};
	memcpy(event.name, name, strlen(name));
}

static void send_event(void)
{
	decode_record(&decoder, rec, &event, JVS_CLASS_EVENT_HEADER + event.name_bytes);
}

static void load(uint64_t klass, const char *name)
{
	begin_event(JVS_EVENT_CLASS_LOAD, klass, name);
	send_event();
}

static void unload(uint64_t klass, const char *name)
{
	begin_event(JVS_EVENT_CLASS_UNLOAD, klass, name);
	event.event.time_ns = 2000;
	send_event();
}

static struct jvs_class_loader loader_record(uint64_t address, uint32_t generation,
					     const char *name)
{
	struct jvs_class_loader record = {
		.event = { .kind = JVS_EVENT_CLASS_LOADER },
		.loader = address,
		.generation = generation,
		.type_bytes = 3,
		.name_bytes = (uint32_t)strlen(name),
		.type = "a/L",
	};

	memcpy(record.name, name, strlen(name));
	return record;
}

static void tell_loader(uint64_t address, uint32_t generation, const char *name)
{
	struct jvs_class_loader record = loader_record(address, generation, name);

	decode_record(&decoder, rec, &record, sizeof(record));
}

static void end_loader(uint64_t address, uint32_t generation)
{
	struct jvs_class_loader record = loader_record(address, generation, "");

	record.event.kind = JVS_EVENT_CLASS_LOADER_END;
	record.event.time_ns = 5000;
	decode_record(&decoder, rec, &record, JVS_CLASS_LOADER_HEADER);
}

static const char *name_of(uint32_t id)
{
	return rec_text(rec, rec_class_get(rec, id)->name);
}

/* ---- tests */

static void a_load_becomes_a_row_and_an_unload_ends_it(void)
{
	const struct rec_class_site *site;

	load(0x10, "gen/p12/C3");
	load(0x20, "gen/p7/C44");
	unload(0x10, "gen/p12/C3");
	ASSERT_INT(rec_class_count(rec), 2);
	CU_ASSERT_STRING_EQUAL(name_of(1), "gen.p12.C3");
	ASSERT_INT(rec_class_get(rec, 1)->end_time_ns, 2000);
	ASSERT_INT(rec_class_get(rec, 2)->end_time_ns, 0);
	ASSERT_INT(rec_class_site_count(rec), 1);
	site = rec_class_site_get(rec, 1);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, site->pattern), "gen.p#.C#");
	ASSERT_INT(site->loaded, 2);
	ASSERT_INT(site->unloaded, 1);
}

static void an_address_that_is_used_again_is_another_class(void)
{
	load(0x10, "a/A");
	unload(0x10, "a/A");
	load(0x10, "b/B");
	ASSERT_INT(rec_class_count(rec), 2);
	ASSERT_INT(rec_class_get(rec, 2)->end_time_ns, 0);
	unload(0x10, "b/B");
	ASSERT_INT(rec_class_get(rec, 2)->end_time_ns, 2000);
}

static void unloads_of_what_was_there_before_are_counted(void)
{
	unload(0x30, "old/C1");
	ASSERT_INT(rec_class_count(rec), 0);
	ASSERT_INT(rec_class_site_count(rec), 1);
	ASSERT_INT(rec_class_site_get(rec, 1)->unloaded, 1);
	ASSERT_INT(rec_loader_get(rec, 1)->unloaded, 1);
}

static void a_loader_is_an_address_and_a_generation(void)
{
	tell_loader(0x1000, 0, "'A' @1");
	load(0x10, "a/A");
	end_loader(0x1000, 0);
	/* Its classes are unloaded after it. */
	unload(0x10, "a/A");
	tell_loader(0x1000, 1, "'A' @2");
	begin_event(JVS_EVENT_CLASS_LOAD, 0x10, "a/A");
	event.generation = 1;
	send_event();
	ASSERT_INT(rec_loader_count(rec), 2);
	ASSERT_INT(rec_loader_get(rec, 1)->end_time_ns, 5000);
	ASSERT_INT(rec_loader_get(rec, 1)->unloaded, 1);
	ASSERT_INT(rec_loader_get(rec, 2)->end_time_ns, 0);
	ASSERT_INT(rec_class_get(rec, 2)->loader, 2);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_loader_get(rec, 2)->type), "a.L");
}

static void hidden_classes_belong_to_the_loader_they_name(void)
{
	tell_loader(0x1000, 0, "'app'");
	for (uint64_t i = 1; i <= 3; i++) {
		tell_loader(0x1000 + i, 0, "'app'");
		begin_event(JVS_EVENT_CLASS_LOAD, i, "a/A+0x00001");
		event.loader = 0x1000 + i;
		send_event();
	}
	ASSERT_INT(rec_loader_count(rec), 1);
	ASSERT_INT(rec_loader_get(rec, 1)->loaded, 3);
	CU_ASSERT_TRUE(rec_class_get(rec, 1)->flags & REC_CLASS_HIDDEN);
	/* One of them goes, the loader stays. */
	end_loader(0x1002, 0);
	ASSERT_INT(rec_loader_get(rec, 1)->end_time_ns, 0);
}

static void a_name_that_cannot_be_read_in_full_says_so(void)
{
	begin_event(JVS_EVENT_CLASS_LOAD, 0x10, "a/Long");
	event.name_len = 5000;
	event.symbol = 8; /* nothing is there */
	send_event();
	CU_ASSERT_STRING_EQUAL(name_of(1), "a.Long");
	CU_ASSERT_TRUE(rec_class_get(rec, 1)->flags & REC_CLASS_NAME_CUT);
}

static void a_long_name_is_read_where_it_is(void)
{
	static struct {
		uint16_t length;
		char text[2000];
	} symbol = { .length = 2000 };

	memset(symbol.text, 'x', sizeof(symbol.text));
	layouts[0] = (struct jvs_class_layout){ .ready = 1, .symbol_body = 2 };
	begin_event(JVS_EVENT_CLASS_LOAD, 0x10, "");
	event.name_len = 2000;
	event.name_bytes = JVS_CLASS_NAME_MAX;
	event.symbol = (uint64_t)(uintptr_t)&symbol;
	memset(event.name, 'x', JVS_CLASS_NAME_MAX);
	send_event();
	ASSERT_INT(strlen(name_of(1)), 2000);
	CU_ASSERT_FALSE(rec_class_get(rec, 1)->flags & REC_CLASS_NAME_CUT);
}

static void bad_records_are_refused(void)
{
	begin_event(JVS_EVENT_CLASS_LOAD, 0x10, "a/A");
	event.name_bytes = 500;
	decode_record(&decoder, rec, &event, JVS_CLASS_EVENT_HEADER + 3);
	decode_record(&decoder, rec, &event, sizeof(struct jvs_event));
	ASSERT_INT(decoder.bad_records, 2);
	ASSERT_INT(rec_class_count(rec), 0);
}

static void a_redefinition_is_no_load(void)
{
	load(0x10, "a/A");
	begin_event(JVS_EVENT_CLASS_REDEFINED, 0x99, "a/A");
	send_event();
	ASSERT_INT(rec_class_count(rec), 2);
	CU_ASSERT_TRUE(rec_class_get(rec, 2)->flags & REC_CLASS_REDEFINED);
	ASSERT_INT(rec_class_site_get(rec, 1)->loaded, 1);
}

static void an_initializer_is_of_its_class(void)
{
	load(0x10, "a/A");
	begin_event(JVS_EVENT_CLASS_INIT, 0x10, "a/A");
	event.duration_ns = 700;
	event.self_ns = 300;
	send_event();
	ASSERT_INT(rec_class_get(rec, 1)->initialize_ns, 700);
	ASSERT_INT(rec_class_get(rec, 1)->initialize_self_ns, 300);
}

static void linking_is_of_its_class(void)
{
	load(0x10, "a/A");
	begin_event(JVS_EVENT_CLASS_LINK, 0x10, "a/A");
	event.event.time_ns = 2000;
	event.duration_ns = 900;
	event.verify_ns = 500;
	event.rewrite_ns = 200;
	send_event();
	begin_event(JVS_EVENT_CLASS_LINK, 0x20, "b/B"); /* was there before */
	send_event();
	ASSERT_INT(rec_class_get(rec, 1)->link_ns, 900);
	ASSERT_INT(rec_class_get(rec, 1)->verify_ns, 500);
	ASSERT_INT(rec_class_get(rec, 1)->rewrite_ns, 200);
	ASSERT_INT(rec_class_count(rec), 1);
}

/* One that brought new code to a class is gone when its linking is told. */
static void linking_before_the_load_is_of_another(void)
{
	load(0x10, "a/A");
	begin_event(JVS_EVENT_CLASS_LINK, 0x10, "");
	event.event.time_ns = 2000;
	event.duration_ns = 1500;
	send_event();
	ASSERT_INT(rec_class_get(rec, 1)->link_ns, 0);
}

static void send_phase(uint32_t phase, uint64_t agent, uint64_t time_ns)
{
	begin_event(JVS_EVENT_CLASS_PHASE, agent, "");
	event.flags = phase;
	event.event.time_ns = time_ns;
	send_event();
}

static void finish(const char *arguments)
{
	rec_jvm_get(rec, 1)->arguments = rec_string(rec, arguments, strlen(arguments));
	processes[0].state = PROCESS_ENDED;
	classes_finish_agents(classes, &processes[0], rec);
	classes_finish_agents(classes, &processes[0], rec);
}

static void agents_have_their_premain(void)
{
	const struct rec_class_agent *agent;

	send_phase(JVS_CLASS_PHASE_INITIALIZED, 0, 100);
	send_phase(JVS_CLASS_PHASE_AGENT, 0, 200);
	send_phase(JVS_CLASS_PHASE_AGENT, 0, 500);
	send_phase(JVS_CLASS_PHASE_MAIN, 0, 900);
	finish("-Xmx1g -javaagent:a.jar=x -agentpath:/n.so -agentlib:jdwp=y -javaagent:b.jar");
	ASSERT_INT(rec_class_start_get(rec, 1)->main_ns, 900);
	ASSERT_INT(rec_class_agent_count(rec), 4);
	agent = rec_class_agent_get(rec, 1);
	CU_ASSERT_TRUE(agent->java && !agent->dynamic);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, agent->name), "a.jar");
	CU_ASSERT_STRING_EQUAL(rec_text(rec, agent->options), "x");
	CU_ASSERT_STRING_EQUAL(rec_text(rec, agent->argument), "-javaagent:a.jar=x");
	ASSERT_INT(agent->time_ns, 200);
	ASSERT_INT(agent->premain_ns, 300);
	agent = rec_class_agent_get(rec, 2);
	CU_ASSERT_FALSE(agent->java);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, agent->path), "/n.so");
	ASSERT_INT(agent->premain_ns, 0);
	ASSERT_INT(rec_class_agent_get(rec, 3)->path, 0);
	ASSERT_INT(rec_class_agent_get(rec, 4)->premain_ns, 400);
}

/* An agent as JDK 17 lists it, in our own memory. */
static void an_attached_agent_has_its_time(void)
{
	static struct {
		const char *name;
		const char *options;
		void *library;
		bool absolute;
		uint64_t next;
	} agent = { .name = "/n.so", .absolute = true };
	static const void *list[2] = { &agent, &agent };
	const struct rec_class_agent *row;

	classes->targets[0].agents_place.list = (uint64_t)(uintptr_t)list;
	send_phase(JVS_CLASS_PHASE_LOADING, (uint64_t)(uintptr_t)&agent, 100);
	send_phase(JVS_CLASS_PHASE_LOADED, (uint64_t)(uintptr_t)&agent, 250);
	classes_look_at_agents(classes, &decoder, &processes[0], rec);
	/* For the end of the JVM, when it is listed. */
	send_phase(JVS_CLASS_PHASE_LOADING, (uint64_t)(uintptr_t)&agent, 900);
	finish("");
	ASSERT_INT(rec_class_agent_count(rec), 1);
	row = rec_class_agent_get(rec, 1);
	CU_ASSERT_TRUE(row->dynamic && !row->java);
	ASSERT_INT(row->time_ns, 100);
	ASSERT_INT(row->initialize_ns, 150);
	ASSERT_INT(row->argument, 0);
}

/* Two of the command line: the first ends where the second begins, that when all are loaded. */
static void libraries_have_the_time_of_their_load(void)
{
	struct class_agent *agents = classes->targets[0].agents;

	send_phase(JVS_CLASS_PHASE_LOADING, 0x100, 100);
	send_phase(JVS_CLASS_PHASE_LOADING, 0x200, 150);
	send_phase(JVS_CLASS_PHASE_ALL_LOADED, 0, 400);
	send_phase(JVS_CLASS_PHASE_LOADING, 0x300, 900);
	ASSERT_INT(agents[0].begin_ns, 100);
	ASSERT_INT(agents[0].took_ns, 50);
	ASSERT_INT(agents[1].took_ns, 250);
	ASSERT_INT(agents[2].took_ns, 0);
}

static void parts_of_class_files_in_odd_orders_do_no_harm(void)
{
	struct jvs_class_bytes part = {
		.event = { .kind = JVS_EVENT_CLASS_BYTES },
		.id = 7,
		.total = 8000,
		.first = 4096,
		.count = 3904,
	};
	size_t size = JVS_CLASS_BYTES_HEADER + part.count;

	decode_record(&decoder, rec, &part, size); /* the second without the first */
	part.first = 0;
	part.count = 4096;
	decode_record(&decoder, rec, &part, JVS_CLASS_BYTES_HEADER + 10); /* shorter than it says */
	part.total = 100;
	decode_record(&decoder, rec, &part, sizeof(part)); /* more than all */
	part.total = UINT32_MAX;
	decode_record(&decoder, rec, &part, sizeof(part));
	for (uint64_t id = 100; id < 200; id++) {
		part = (struct jvs_class_bytes){
			.event = part.event, .id = id, .total = 10, .count = 10, .after = id % 2
		};
		decode_record(&decoder, rec, &part, sizeof(part));
		decode_record(&decoder, rec, &part, sizeof(part));
	}
	begin_event(JVS_EVENT_CLASS_LOAD, 0x10, "a/A");
	event.facts.bytes_id = 199;
	send_event();
	ASSERT_INT(rec_class_get(rec, 1)->change, 0);
}

static void loads_of_an_unreadable_jvm_do_not_pile_up(void)
{
	const struct class_target *t = &classes->targets[0];

	for (uint32_t i = 0; i < 70000; i++) {
		begin_event(JVS_EVENT_CLASS_LOAD, 0x10 + i, "");
		event.flags = JVS_CLASS_EARLY;
		send_event();
	}
	ASSERT_INT(t->early_count, 65536);
	ASSERT_INT(t->early_lost, 70000 - 65536);
	ASSERT_INT(rec_class_count(rec), 0);
}

static uint64_t loaded_of(uint32_t jvm)
{
	const struct rec_count *counts;
	size_t count;

	counts = rec_class_counts(rec, &count);
	for (size_t i = 0; i < count; i++)
		if (counts[i].jvm == jvm && !strcmp(rec_text(rec, counts[i].name), "loaded"))
			return counts[i].value;
	return 0;
}

static uint64_t counters[JVS_CLASS_COUNT_NR]; /* of the kernel */

static void a_place_that_is_given_on_counts_from_0(void)
{
	uint32_t first = processes[0].rec_jvm, second;

	memset(counters, 0, sizeof(counters));
	counters[JVS_CLASS_COUNT_LOADED] = counters[JVS_CLASS_COUNT_SENT] = 100;
	fakes.counters = counters;
	fakes.counter_count = JVS_CLASS_COUNT_NR;
	classes->counts_fd = FAKE_MAP_FD;
	classes->rules_fd = classes->loaders_fd = -1;
	classes->hooked_fd = classes->modes_fd = -1;
	classes->targets[0].tried = true;
	classes->targets[0].early_arrays = 10;
	classes_finish(classes, &decoder, &processes[0], rec);
	ASSERT_INT(loaded_of(first), 90);
	/* Another program of the same process is counted on. */
	classes_forget(classes, &processes[0]);
	classes->targets[0].tried = true;
	counters[JVS_CLASS_COUNT_LOADED] = 150;
	classes_finish(classes, &decoder, &processes[0], rec);
	ASSERT_INT(loaded_of(first), 140);

	classes_leave(classes, &processes[0]);
	second = processes[0].rec_jvm = rec_jvm(rec, &(struct rec_jvm){ .pid = 200 });
	classes->targets[0].tried = true;
	counters[JVS_CLASS_COUNT_LOADED] = 157;
	classes_finish(classes, &decoder, &processes[0], rec);
	ASSERT_INT(loaded_of(first), 140);
	ASSERT_INT(loaded_of(second), 7);
	fakes_reset();
}

/* ---- the budget */

static void phase_hit(void)
{
	counters[JVS_CLASS_COUNT_HITS]++;
	counters[JVS_CLASS_COUNT_PHASE_HITS]++;
}

static void begin_budget(void)
{
	memset(counters, 0, sizeof(counters));
	fakes_reset();
	fakes.counters = counters;
	fakes.counter_count = JVS_CLASS_COUNT_NR;
	classes->counts_fd = FAKE_MAP_FD;
	classes->modes_fd = FAKE_MAP_FD + 1;
	fakes.maps[1].value_size = sizeof(uint32_t);
	classes_begin_budget(classes, &processes[0]);
}

static void hits_between_two_reads_are_not_too_few(void)
{
	const struct probe_budget *budget = &classes->targets[0].budget;

	begin_budget();
	fakes.counter_was_read = phase_hit;
	for (uint64_t i = 0; i < 3; i++) {
		classes_keep_budget(classes, &decoder, &processes[0], rec);
		CU_ASSERT_TRUE(budget->governor.last.hits <= counters[JVS_CLASS_COUNT_HITS]);
	}
	fakes_reset();
}

static void keep_budget_in(enum rec_native_state state)
{
	struct governor *governor = &classes->targets[0].budget.governor;

	governor->state = state;
	governor->attached = state == REC_NATIVE_EXACT;
	classes_keep_budget(classes, &decoder, &processes[0], rec);
}

/* An unload that was only counted leaves its address, where the next class may be. */
static void what_was_loaded_before_counting_may_be_gone(void)
{
	begin_budget();
	load(0x10, "a/A1");
	load(0x20, "a/A2");
	keep_budget_in(REC_NATIVE_DETACHED);
	keep_budget_in(REC_NATIVE_EXACT);
	ASSERT_INT(fake_map_get(&fakes.maps[1], 0), JVS_CLASS_MODE_EXACT);
	load(0x30, "a/A3");

	begin_event(JVS_EVENT_CLASS_INIT, 0x10, "b/B");
	event.duration_ns = 700;
	send_event();
	ASSERT_INT(rec_class_get(rec, 1)->initialize_ns, 0);
	unload(0x10, "b/B");
	ASSERT_INT(rec_class_get(rec, 1)->end_time_ns, 0);
	ASSERT_INT(rec_class_site_get(rec, 1)->unloaded, 0);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_class_site_get(rec, 2)->pattern), "b.B");
	ASSERT_INT(rec_class_site_get(rec, 2)->unloaded, 1);
	/* One of its kind is counted where it was loaded; which of them it is is not known. */
	unload(0x20, "a/A7");
	ASSERT_INT(rec_class_get(rec, 2)->end_time_ns, 0);
	ASSERT_INT(rec_class_site_get(rec, 1)->unloaded, 1);
	unload(0x30, "a/A3");
	ASSERT_INT(rec_class_get(rec, 3)->end_time_ns, 2000);
	ASSERT_INT(rec_class_site_get(rec, 1)->unloaded, 2);
	fakes_reset();
}

static CU_TestInfo tests[] = {
	{ "a load becomes a row and an unload ends it",
	  a_load_becomes_a_row_and_an_unload_ends_it },
	{ "an address that is used again is another class",
	  an_address_that_is_used_again_is_another_class },
	{ "unloads of what was there before are counted",
	  unloads_of_what_was_there_before_are_counted },
	{ "a loader is an address and a generation", a_loader_is_an_address_and_a_generation },
	{ "hidden classes belong to the loader they name",
	  hidden_classes_belong_to_the_loader_they_name },
	{ "a name that cannot be read in full says so",
	  a_name_that_cannot_be_read_in_full_says_so },
	{ "a long name is read where it is", a_long_name_is_read_where_it_is },
	{ "bad records are refused", bad_records_are_refused },
	{ "a redefinition is no load", a_redefinition_is_no_load },
	{ "an initializer is of its class", an_initializer_is_of_its_class },
	{ "linking is of its class", linking_is_of_its_class },
	{ "linking before the load is of another", linking_before_the_load_is_of_another },
	{ "agents have their premain", agents_have_their_premain },
	{ "an attached agent has its time", an_attached_agent_has_its_time },
	{ "libraries have the time of their load", libraries_have_the_time_of_their_load },
	{ "parts of class files in odd orders do no harm",
	  parts_of_class_files_in_odd_orders_do_no_harm },
	{ "loads of an unreadable JVM do not pile up", loads_of_an_unreadable_jvm_do_not_pile_up },
	{ "a place that is given on counts from 0", a_place_that_is_given_on_counts_from_0 },
	{ "hits between two reads are not too few", hits_between_two_reads_are_not_too_few },
	{ "what was loaded before counting may be gone",
	  what_was_loaded_before_counting_may_be_gone },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo live_classes_suite = {
	.pName = "live/classes",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
