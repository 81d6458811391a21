/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/hurry.h"
#include "cli/loop.h"
#include "cli/outputs.h"
#include "cli/status.h"
#include "cli/summary.h"
#include "cli/triefile.h"
#include "cli/watch.h"
#include "ledger/ledgers.h"
#include "live/live.h"
#include "model/recording.h"
#include "target/maps.h"

#define LOOK_EVERY_TICKS 10	       /* for new JVMs, with --all: once a second */
#define LOOK_AT_CHILD_NS 5000000000ull /* a launcher may work for a while before it execs java */

/* What loop_run returns when the recording is over. */
enum end {
	END_TIME, /* 0: -d is over */
	END_SIGNAL,
	END_TARGET,
	END_OUTPUT, /* nothing can be written any more */
};

/* CPU time the targets must have used before no sample at all is a failure. */
#define HURRY_NS	 2000000000ull /* sampling has begun so long ago when we stop to hurry */
#define RATE_CHECKED_NS	 2000000000ull /* CPU time from which on the rate is no accident */
#define RATE_LEAST	 0.8	       /* of what was asked */
#define SAMPLES_EXPECTED 20

/* Rows of samples, 40 bytes each, that end a chunk before its time. */
#define SAMPLES_IN_MEMORY (1u << 18)

struct record {
	const struct options *options;
	struct loop loop;
	struct live *live;
	struct recording *rec;
	struct child child;
	bool child_is_jvm; /* it had a libjvm.so mapped at some tick */
	struct watch watch;
	struct status status;
	struct outputs outputs;
	struct ledgers ledgers;
	struct trie_words words; /* of --trie FILE */
	struct trie trie;
	struct filter filter;
	bool saw_libjvm;	 /* in a stack, before the filter */
	uint64_t chunk_ns;	 /* clock_monotonic_ns() when the current chunk of JFR began */
	uint64_t start_ns;	 /* clock_monotonic_ns() when sampling began */
	uint64_t startup_cpu_ns; /* our CPU time until then */
	uint32_t ticks;
	bool hurries;
};

static uint32_t add_text(struct recording *rec, const char *text)
{
	return rec_string(rec, text, strlen(text));
}

/* What is the same for every kind of recording on this host. */
static void describe(struct record *record)
{
	struct rec_meta *meta = rec_meta(record->rec);
	char events[OPTIONS_EVENTS_TEXT];
	struct utsname host;

	meta->tool_version = add_text(record->rec, JVMSCOPE_VERSION);
	meta->events = add_text(
		record->rec, options_events_text(record->options->events, events, sizeof(events)));
	if (uname(&host))
		return;
	meta->host_name = add_text(record->rec, host.nodename);
	meta->kernel_release = add_text(record->rec, host.release);
	meta->machine = add_text(record->rec, host.machine);
}

/* ---- what the loop calls */

/* Whether the COMMAND became a JVM, also when it ends before its tables can be read. */
static void look_at_child(struct record *record)
{
	struct maps maps;

	if (record->child_is_jvm || clock_monotonic_ns() - record->start_ns > LOOK_AT_CHILD_NS)
		return;
	if (maps_read(record->child.pid, &maps))
		return;
	record->child_is_jvm = maps_find_file(&maps, "libjvm.so") != NULL;
	maps_free(&maps);
}

static int on_ready(void *ctx)
{
	struct record *record = ctx;
	int count;

	/* Each new mapping makes the descriptor readable; live_poll reads libjvm, for a while. */
	if (record->child.pid)
		look_at_child(record);
	count = live_poll(record->live, record->rec);
	return count < 0 ? count : 0;
}

/* The end of a chunk, when it is long enough. */
static int end_chunk(struct record *record)
{
	const struct rec_meta *meta = rec_meta_get(record->rec);
	uint64_t now_ns = clock_monotonic_ns();
	size_t samples;
	int err;

	rec_samples(record->rec, &samples);
	if (now_ns - record->chunk_ns < record->options->chunk_ns && samples < SAMPLES_IN_MEMORY)
		return 0;
	record->chunk_ns = now_ns;
	live_snapshot(record->live, record->rec);
	describe(record);
	loop_begin_chunk();
	err = outputs_chunk(&record->outputs, record->rec, &record->filter,
			    meta->start_time_ns + (int64_t)(now_ns - record->start_ns));
	loop_end_chunk();
	return err ? END_OUTPUT : 0;
}

static int on_tick(void *ctx)
{
	struct record *record = ctx;
	int alive = live_tick(record->live, record->rec);
	int end;

	if (alive < 0)
		return alive;
	if (clock_monotonic_ns() - record->start_ns > HURRY_NS)
		hurry_end(&record->hurries);
	if (record->options->events & LIVE_EVENT_COUNTER)
		ledgers_tick(&record->ledgers, record->rec);
	end = end_chunk(record);
	if (end)
		return end;
	status_tick(&record->status, record->live, clock_monotonic_ns());
	if (record->child.pid)
		return child_ended(&record->child) ? END_TARGET : 0;
	if (!record->options->all)
		return alive ? 0 : END_TARGET;
	if (++record->ticks % LOOK_EVERY_TICKS)
		return 0;
	return watch_look(&record->watch, record->live);
}

static int on_signal(void *ctx, int number, bool from_terminal)
{
	struct record *record = ctx;

	if (record->child.pid && !from_terminal)
		kill(record->child.pid, number);
	return END_SIGNAL;
}

/* ---- before */

/* The kernel's own limit, which an administrator may have lowered. 0: unknown. */
static uint64_t kernel_max_frequency(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	char line[32] = "";
	uint64_t limit = 0;

	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (text_number(line, 1, UINT32_MAX, &limit))
			limit = 0;
	}
	fclose(file);
	return limit;
}

static int check_frequency(uint32_t frequency)
{
	uint64_t limit = kernel_max_frequency();

	if (limit && frequency > limit) {
		log_error("-F %" PRIu32 ": the kernel allows %" PRIu64
			  " (sysctl kernel.perf_event_max_sample_rate)",
			  frequency, limit);
		return -EINVAL;
	}
	if (frequency > OPTIONS_HZ_WARN)
		log_warn("-F %" PRIu32 ": above %d the interrupts themselves slow the target down",
			 frequency, OPTIONS_HZ_WARN);
	return 0;
}

static int add_targets(struct record *record)
{
	const struct options *options = record->options;
	uint32_t index;
	int err = 0;

	if (options->command) {
		err = live_add(record->live, record->child.pid, false, &index);
		if (!err)
			live_expect(record->live, index, options->command[0]);
		return err;
	}
	if (options->all) {
		err = watch_look(&record->watch, record->live);
		if (!err && !record->watch.added)
			log_info("no JVM yet; those that start will be recorded");
		return err;
	}
	for (size_t i = 0; i < options->pid_count && !err; i++)
		err = live_add(record->live, options->pids[i], true, &index);
	return err;
}

static int open_all(struct record *record)
{
	const struct options *options = record->options;
	const struct live_options how = {
		.events = options->events,
		.max_overhead = options->max_overhead,
		.frequency = options->frequency,
		.max_depth = options->max_depth,
		.ring_bytes = options->ring_bytes,
		.live_blocks = options->live_blocks,
		.sites = options->sites,
		.clock = options->clock,
		.trie = options->filter == FILTER_OFF ? NULL : &record->trie,
		.pids = options->pids,
		.pid_count = options->pid_count,
	};
	int err;

	if (options->command) {
		if (child_start(options->command, &record->loop.old_mask, &record->child))
			return -ECHILD;
	}
	hurry_begin(&record->hurries);
	record->outputs = (struct outputs){ .options = options, .when = time(NULL) };
	outputs_pid_text(options, record->child.pid ? record->child.pid : options->pids[0],
			 record->outputs.pid, sizeof(record->outputs.pid));
	if (outputs_check_paths(&record->outputs))
		return -EIO;

	record->rec = rec_new();
	if (!record->rec) {
		log_error("recording: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	record->filter = (struct filter){ .rec = record->rec,
					  .trie = record->trie,
					  .mode = options->filter };
	err = live_open(&how, &record->live);
	/* There is no target yet: what was not found is a feature of the kernel. */
	if (err == -ENOENT)
		err = -ENOTSUP;
	if (!err)
		err = add_targets(record);
	if (!err)
		err = loop_watch(&record->loop, live_fd(record->live));
	return err;
}

/* ---- after */

static void say_end(const struct record *record, enum end end)
{
	uint64_t elapsed_ns = clock_monotonic_ns() - record->start_ns;
	char elapsed[TEXT_MAX];

	if (end != END_TARGET)
		return;
	text_ns(elapsed_ns, elapsed);
	if (record->child.pid)
		log_info("%s: ended after %s", record->child.name, elapsed);
	else if (record->options->pid_count == 1)
		log_info("pid %d: ended after %s, and the recording with it",
			 record->options->pids[0], elapsed);
	else
		log_info("all targets ended after %s, and the recording with them", elapsed);
}

/* Those that the filter dropped were taken, too. */
static uint64_t count_samples(const struct recording *rec)
{
	uint64_t samples = rec_filter_get(rec)->dropped;
	const struct rec_total *totals;
	size_t count;

	totals = rec_totals(rec, &count);
	for (size_t i = 0; i < count; i++) {
		if (totals[i].key.metric == REC_CPU)
			samples += (uint64_t)totals[i].count;
	}
	return samples;
}

/* Samples that the kernel did not take are in no counter: only the rate shows them. */
static void warn_of_slow_clock(const struct record *record)
{
	const struct rec_meta *meta = rec_meta_get(record->rec);

	if (meta->target_cpu_ns > RATE_CHECKED_NS &&
	    meta->achieved_hz < RATE_LEAST * record->options->frequency)
		log_warn("%.0f samples a second of CPU time were taken, %" PRIu32 " asked: the "
			 "kernel slows sampling down when it takes long, as with very deep stacks",
			 meta->achieved_hz, record->options->frequency);
}

/* No samples are right for an idle target, and a failure for one that used the CPU. */
static enum exit_status check_samples(const struct record *record)
{
	const struct rec_meta *meta = rec_meta_get(record->rec);
	char cpu[TEXT_MAX];

	if (!(record->options->events & LIVE_EVENT_CPU))
		return EXIT_DONE;
	if (count_samples(record->rec)) {
		warn_of_slow_clock(record);
		return EXIT_DONE;
	}
	text_ns(meta->target_cpu_ns, cpu);
	if (meta->target_cpu_ns * record->options->frequency < SAMPLES_EXPECTED * 1000000000ull) {
		log_info("no samples: the target used %s of CPU time", cpu);
		return EXIT_DONE;
	}
	log_error("no samples, though the target used %s of CPU time; jvmscope doctor says what "
		  "is missing",
		  cpu);
	return EXIT_RUNTIME;
}

/* Whether a frame in libjvm.so was seen: the trace of a JVM that was too short to be looked at. */
static bool has_libjvm(const struct recording *rec)
{
	for (uint32_t id = 1; id <= rec_frame_count(rec); id++) {
		const struct rec_frame *frame = rec_frame_get(rec, id);
		const struct rec_method *method = rec_method_get(rec, frame->method);

		if (!strcmp(rec_text(rec, method->module), "libjvm.so"))
			return true;
	}
	return false;
}

/* A COMMAND is not looked at before it runs, so only now is it known that it was no JVM. */
static enum exit_status check_java(const struct record *record)
{
	if (live_all_java(record->live))
		return EXIT_DONE;
	if (!record->child.pid || record->child_is_jvm || record->saw_libjvm) {
		log_warn(
			"Java frames of at least one target could not be read, or it ended before");
		return record->options->strict ? EXIT_RUNTIME : EXIT_DONE;
	}
	log_error("%s: not a HotSpot JVM while it was recorded (children of a launcher script are "
		  "not followed)",
		  record->child.name);
	return EXIT_NO_TARGET;
}

static enum exit_status check_losses(const struct record *record)
{
	uint64_t lost = rec_quality_sum(record->rec, REC_QUALITY_LOST);

	if (rec_error(record->rec)) {
		log_error("recording: memory ran out, so a part is missing");
		return EXIT_RUNTIME;
	}
	if (!record->options->strict || (!lost && !record->watch.failed))
		return EXIT_DONE;
	if (lost)
		log_error("--strict: %" PRIu64 " samples were lost", lost);
	else
		log_error("--strict: %zu JVMs could not be recorded", record->watch.failed);
	return EXIT_RUNTIME;
}

static enum exit_status check_result(const struct record *record)
{
	enum exit_status (*const checks[])(const struct record *) = { check_java, check_samples,
								      check_losses };
	enum exit_status first = EXIT_DONE;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		enum exit_status status = checks[i](record);

		if (first == EXIT_DONE)
			first = status;
	}
	return first;
}

static int say_rules_failed(const struct record *record, int err)
{
	if (err)
		log_error("--filter %s: %s", filter_mode_name(record->options->filter),
			  strerror(-err));
	return err;
}

/* The rules on what was recorded. It is written without them when memory is out. */
static int count_rules(struct record *record)
{
	const char *source = triefile_source(record->options->trie);

	record->saw_libjvm = has_libjvm(record->rec);
	return say_rules_failed(record, filter_count(&record->filter, source));
}

/* What is written chunk by chunk has its stacks already. */
static int edit_stacks(struct record *record)
{
	return say_rules_failed(record, filter_edit(&record->filter));
}

static void write_summary(const struct record *record)
{
	struct colors colors = terminal_colors(record->options->color, stderr);

	if (!record->options->quiet)
		summary_write(record->rec, record->startup_cpu_ns, &colors, stderr);
}

static void end_child(struct record *record)
{
	if (!record->child.pid)
		return;
	if (child_wait(&record->child))
		child_report(&record->child);
	else
		log_info("%s: pid %d is still running", record->child.name, record->child.pid);
}

/* Starts sampling, and the COMMAND after it. */
static int start(struct record *record)
{
	const struct options *options = record->options;
	struct live_status now;
	int err;

	err = live_start(record->live, record->rec);
	if (err)
		return err;
	if (outputs_begin(&record->outputs, record->rec))
		return -EIO;
	record->start_ns = record->chunk_ns = clock_monotonic_ns();
	live_status(record->live, &now);
	record->startup_cpu_ns = now.own_cpu_ns;
	status_start(&record->status, record->start_ns, now.own_cpu_ns, options->duration_ns,
		     options->quiet || options->no_progress);
	/* -ENOENT here would read as "no such target". */
	return record->child.pid && child_release(&record->child) ? -ECHILD : 0;
}

/* A ledger says how many bytes lived at sites when it was read: they are counted right before. */
static void finish_ledgers(struct record *record)
{
	live_tick(record->live, record->rec);
	ledgers_finish(&record->ledgers, record->rec);
}

/* Samples, and writes what was seen also when sampling ended with an error. */
static enum exit_status sample(struct record *record)
{
	static const struct loop_calls calls = { on_ready, on_tick, on_signal };
	enum exit_status status = EXIT_DONE;
	enum exit_status result;
	int end;
	int err;

	end = loop_run(&record->loop, &calls, record, record->options->duration_ns);
	status_stop(&record->status);
	if (record->options->events & LIVE_EVENT_COUNTER)
		finish_ledgers(record);
	err = live_stop(record->live, record->rec);
	if (end < 0)
		err = end;
	if (err) {
		log_error("recording ended early: %s", strerror(-err));
		status = EXIT_RUNTIME;
	}
	describe(record);
	say_end(record, end < 0 ? END_TIME : (enum end)end);

	loop_begin_writing(&record->loop);
	err = count_rules(record);
	if (outputs_end(&record->outputs, record->rec, &record->filter))
		status = EXIT_RUNTIME;
	if (err || edit_stacks(record))
		status = EXIT_RUNTIME;
	if (outputs_write(&record->outputs, record->rec))
		status = EXIT_RUNTIME;
	write_summary(record);
	result = check_result(record);
	end_child(record);
	return status == EXIT_DONE ? result : status;
}

int cmd_record(const struct options *options)
{
	struct record record = { .options = options };
	enum exit_status status;
	int err;

	if (check_frequency(options->frequency))
		return EXIT_USAGE;
	if (triefile_choose(options->trie, &record.words, &record.trie))
		return EXIT_RUNTIME;
	err = loop_open(&record.loop);
	if (err) {
		trie_words_free(&record.words);
		return EXIT_RUNTIME;
	}

	err = open_all(&record);
	if (!err)
		err = start(&record);
	status = err ? exit_of_error(err) : sample(&record);

	status_stop(&record.status);
	ledgers_free(&record.ledgers);
	outputs_close(&record.outputs);
	filter_free(&record.filter);
	live_close(record.live);
	rec_free(record.rec);
	watch_free(&record.watch);
	child_close(&record.child);
	loop_close(&record.loop);
	trie_words_free(&record.words);
	return (int)status;
}
