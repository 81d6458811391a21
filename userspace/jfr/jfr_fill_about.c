/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_fill_impl.h"

/* The part of jfr_fill.c for events that say something about the whole. */

#define NS_PER_SECOND 1000000000

int64_t jfr_fill_time(const struct jfr_item *e, unsigned int field)
{
	return rec_time(jfr_ns(e, field));
}

uint32_t jfr_fill_text(struct jfr_filler *f, const struct jfr_item *e, unsigned int field)
{
	if (!jfr_text(e, field, &f->text) || !f->text.len)
		return 0;
	return rec_string(f->rec, f->text.text, f->text.len);
}

static uint32_t take_part(struct jfr_filler *f, const char *text, size_t len)
{
	return len ? rec_string(f->rec, text, len) : 0;
}

/* The JVM with this pid that started then, within a millisecond; added when it is new. */
static uint32_t find_jvm(struct jfr_filler *f, const struct rec_jvm *jvm)
{
	uint32_t id = jfr_resolve_same_jvm(&f->resolver, jvm);

	return id ? id : rec_jvm(f->rec, jvm);
}

/* ---- files of others */

/*
 * "OpenJDK 64-Bit Server VM (17.0.15+6-Debian) for linux-amd64 JRE (17.0.15+6-Debian), built ..."
 * by the JDK, "17.0.15+6-Debian" by async-profiler.
 */
static uint32_t take_version(struct jfr_filler *f, const struct jfr_item *e, unsigned int field)
{
	const char *text, *open;

	if (!jfr_text(e, field, &f->text))
		return 0;
	text = strbuf_text(&f->text);
	open = strchr(text, '(');
	if (open && strchr(open, ')'))
		return take_part(f, open + 1, (size_t)(strchr(open, ')') - open - 1));
	return take_part(f, text, f->text.len);
}

/* "17.0.15+6" is 17, "25.462-b08" of JDK 8's VM is 8 as "1.8.0_462" is. */
static int major_of(const char *version)
{
	char *end;
	long major = strtol(version, &end, 10);

	if (major == 1 && *end == '.')
		major = strtol(end + 1, NULL, 10);
	else if (major == 25 && strstr(version, "-b"))
		major = 8;
	return major > 0 && major < 1000 ? (int)major : 0;
}

enum { INFO_PID, INFO_START, INFO_VERSION, INFO_ARGUMENTS, INFO_JAVA_ARGUMENTS };

void jfr_fill_jvm_information(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_jvm jvm = {
		.pid = (pid_t)jfr_number(e, INFO_PID),
		.start_time_ns = (uint64_t)jfr_ns(e, INFO_START),
	};

	/* Ours say more in jvmscope.JVM. */
	if (f->is_ours)
		return;
	jvm.version = take_version(f, e, INFO_VERSION);
	jvm.major = major_of(rec_text(f->rec, jvm.version));
	jvm.arguments = jfr_fill_text(f, e, INFO_ARGUMENTS);
	if (jfr_text(e, INFO_JAVA_ARGUMENTS, &f->text))
		jvm.main_class = take_part(f, f->text.text, strcspn(strbuf_text(&f->text), " "));
	f->resolver.jvm = find_jvm(f, &jvm);
}

void jfr_fill_gc_configuration(void *ctx, const struct jfr_item *e)
{
	static const struct {
		const char *prefix;
		const char *name;
	} collectors[] = {
		{ "G1", "G1" }, { "Parallel", "Parallel" },	{ "DefNew", "Serial" },
		{ "Z", "ZGC" }, { "Shenandoah", "Shenandoah" }, { "ParNew", "CMS" },
	};
	struct jfr_filler *f = ctx;
	struct rec_jvm *jvm = rec_jvm_get(f->rec, f->resolver.jvm);

	/* Z of JDK 17 and Shenandoah have no young generation. */
	for (unsigned int field = 0; field < 2 && jvm && !f->is_ours; field++) {
		jfr_text(e, field, &f->text);
		for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++) {
			const char *prefix = collectors[i].prefix;

			if (!strncmp(strbuf_text(&f->text), prefix, strlen(prefix)))
				jvm->gc_name = rec_string(f->rec, collectors[i].name,
							  strlen(collectors[i].name));
		}
	}
}

/* Somewhere in it: "uname: Linux 6.1.0-13-amd64 #1 SMP ... x86_64". */
void jfr_fill_os_information(void *ctx, const struct jfr_item *e)
{
	static const char uname[] = "uname: Linux ";
	struct jfr_filler *f = ctx;
	struct rec_meta *meta = rec_meta(f->rec);
	const char *at;
	size_t len, word;

	if (f->is_ours || !jfr_text(e, 0, &f->text))
		return;
	at = strstr(strbuf_text(&f->text), uname);
	if (!at)
		return;
	at += strlen(uname);
	len = strcspn(at, "\n");
	meta->kernel_release = take_part(f, at, strcspn(at, " \n"));
	for (word = len; word && at[word - 1] != ' ';)
		word--;
	meta->machine = take_part(f, at + word, len - word);
}

void jfr_fill_cpu_information(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int64_t cpus = jfr_number(e, 0);

	if (!f->is_ours && cpus > 0)
		rec_meta(f->rec)->cpus = (uint32_t)cpus;
}

/* "20 ms", "10101010 ns"; async-profiler's "5000000" is in nanoseconds, too. 0: none of these. */
static int64_t parse_period(const char *text)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} units[] = { { "", 1 },
		      { " ns", 1 },
		      { " us", 1000 },
		      { " ms", 1000000 },
		      { " s", NS_PER_SECOND } };
	char *end;
	long long value = strtoll(text, &end, 10);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (end > text && !strcmp(end, units[i].unit) && value > 0 &&
		    value < NS_PER_SECOND * 60ll / units[i].ns)
			return value * units[i].ns;
	}
	return 0;
}

enum { SETTING_ID, SETTING_NAME, SETTING_VALUE };

void jfr_fill_active_setting(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	uint32_t type = e->chunk->wanted[JFR_FILL_EXECUTION_SAMPLE].type;
	int64_t period_ns = 0;

	if (type == JFR_NO_TYPE || jfr_number(e, SETTING_ID) != e->chunk->schema.types[type].id ||
	    !jfr_text(e, SETTING_NAME, &f->text))
		return;
	if (!strcmp(strbuf_text(&f->text), "period") || !strcmp(strbuf_text(&f->text), "interval"))
		period_ns = jfr_text(e, SETTING_VALUE, &f->text)
				    ? parse_period(strbuf_text(&f->text))
				    : 0;
	if (period_ns)
		f->period_ns = period_ns;
}

void jfr_fill_data_loss(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	int64_t bytes = jfr_number(e, 0);

	if (!f->is_ours && bytes > 0)
		rec_quality_add(f->rec, REC_QUALITY_INFO, "recorder_lost_bytes", (uint64_t)bytes);
}

/* ---- our own */

enum {
	REC_TOOL_VERSION,
	REC_HOST_NAME,
	REC_KERNEL_RELEASE,
	REC_MACHINE,
	REC_CLOCK,
	REC_EVENTS,
	REC_START,
	REC_END,
	REC_FREQUENCY,
	REC_PERIOD,
	REC_MAX_DEPTH,
	REC_CPUS,
	REC_SEEN,
	REC_TARGET_CPU,
	REC_OWN_CPU,
	REC_BPF,
	REC_OWN_RSS,
	REC_OWN_MAP,
	REC_ACHIEVED,
};

/* Its numbers are those of the recording until there: the last one is right. */
void jfr_fill_recording(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_meta *meta = rec_meta(f->rec);
	int64_t start_ns = jfr_fill_time(e, REC_START), end_ns = jfr_fill_time(e, REC_END);

	*meta = (struct rec_meta){
		.start_time_ns = start_ns,
		.end_time_ns = end_ns,
		.frequency_hz = (uint32_t)jfr_number(e, REC_FREQUENCY),
		.achieved_hz = jfr_decimal(e, REC_ACHIEVED),
		.seen = (uint64_t)jfr_number(e, REC_SEEN),
		.target_cpu_ns = (uint64_t)jfr_number(e, REC_TARGET_CPU),
		.own_cpu_ns = (uint64_t)jfr_number(e, REC_OWN_CPU),
		.own_rss_bytes = (uint64_t)jfr_number(e, REC_OWN_RSS),
		.own_map_bytes = (uint64_t)jfr_number(e, REC_OWN_MAP),
		.bpf_ns = (uint64_t)jfr_number(e, REC_BPF),
		.max_depth = (uint32_t)jfr_number(e, REC_MAX_DEPTH),
		.tool_version = jfr_fill_text(f, e, REC_TOOL_VERSION),
		.host_name = jfr_fill_text(f, e, REC_HOST_NAME),
		.kernel_release = jfr_fill_text(f, e, REC_KERNEL_RELEASE),
		.machine = jfr_fill_text(f, e, REC_MACHINE),
		.clock = jfr_fill_text(f, e, REC_CLOCK),
		.events = jfr_fill_text(f, e, REC_EVENTS),
		.cpus = (uint32_t)jfr_number(e, REC_CPUS),
	};
	f->period_ns = jfr_ns(e, REC_PERIOD) > 0 ? jfr_ns(e, REC_PERIOD) : 0;
}

enum {
	JVM_PID,
	JVM_CONTAINER_PID,
	JVM_MAJOR,
	JVM_START,
	JVM_VERSION,
	JVM_GC_NAME,
	JVM_MAIN_CLASS,
	JVM_ARGUMENTS,
	JVM_CONTAINER_ID,
	JVM_POD_UID,
};

void jfr_fill_jvm(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	struct rec_jvm jvm = {
		.pid = (pid_t)jfr_number(e, JVM_PID),
		.container_pid = (pid_t)jfr_number(e, JVM_CONTAINER_PID),
		.major = (int)jfr_number(e, JVM_MAJOR),
		.start_time_ns = (uint64_t)jfr_ns(e, JVM_START),
		.version = jfr_fill_text(f, e, JVM_VERSION),
		.gc_name = jfr_fill_text(f, e, JVM_GC_NAME),
		.main_class = jfr_fill_text(f, e, JVM_MAIN_CLASS),
		.arguments = jfr_fill_text(f, e, JVM_ARGUMENTS),
		.container_id = jfr_fill_text(f, e, JVM_CONTAINER_ID),
		.pod_uid = jfr_fill_text(f, e, JVM_POD_UID),
	};
	uint32_t id = jfr_resolve_same_jvm(&f->resolver, &jvm);

	/* Later chunks may know more; one more than a recording holds is not this one. */
	if (id)
		*rec_jvm_get(f->rec, id) = jvm;
	else
		rec_jvm(f->rec, &jvm);
}

void jfr_fill_thread_time(void *ctx, const struct jfr_item *e)
{
	struct jfr_filler *f = ctx;
	uint32_t id = jfr_resolve_thread(&f->resolver, jfr_number(e, 0));
	struct rec_thread *thread = rec_thread_get(f->rec, id);

	if (!thread)
		return;
	thread->cpu_ns += (uint64_t)jfr_number(e, 1);
	for (unsigned int state = 0; state < REC_STATE_NR; state++)
		thread->state_ns[state] += (uint64_t)jfr_number(e, 2 + state);
}

void jfr_fill_quality(void *ctx, const struct jfr_item *e)
{
	static const char *const groups[REC_QUALITY_GROUP_NR] = {
		[REC_QUALITY_COMPLETE] = "complete", [REC_QUALITY_TRUNCATED_BY] = "truncated",
		[REC_QUALITY_BROKEN_BY] = "broken",  [REC_QUALITY_LOST] = "lost",
		[REC_QUALITY_INFO] = "info",
	};
	struct jfr_filler *f = ctx;
	struct strbuf name = { 0 };

	f->has_quality = true;
	jfr_text(e, 1, &name);
	jfr_text(e, 0, &f->text);
	for (int group = 0; group < REC_QUALITY_GROUP_NR; group++) {
		if (!strcmp(strbuf_text(&f->text), groups[group]))
			rec_quality_add(f->rec, (enum rec_quality_group)group, strbuf_text(&name),
					(uint64_t)jfr_number(e, 2));
	}
	strbuf_free(&name);
}
