/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILL_IMPL_H
#define JVMSCOPE_JFR_FILL_IMPL_H

#include "jfr/jfr_fill.h"
#include "jfr/jfr_fill_counters.h"
#include "jfr/jfr_fill_events.h"
#include "jfr/jfr_fill_heap.h"
#include "jfr/jfr_fill_settings.h"
#include "jfr/jfr_resolve.h"
#include "model/ledger.h"
#include "model/table.h"

/* Inside of jfr_fill*.c. */

enum jfr_sample_kind {
	JFR_SAMPLE_EXECUTION,
	JFR_SAMPLE_NATIVE,
	JFR_SAMPLE_CPU_TIME,
	JFR_SAMPLE_OTHERS, /* no samples of a CPU: first those whose value is in bytes */
	JFR_SAMPLE_MALLOC = JFR_SAMPLE_OTHERS,
	JFR_SAMPLE_OBJECT, /* of the Java heap; state is the class */
	JFR_SAMPLE_ALLOCATION,
	JFR_SAMPLE_EVENTS, /* then events; state is the class of what is waited for */
	JFR_SAMPLE_LOCK_WAIT = JFR_SAMPLE_EVENTS,
	JFR_SAMPLE_OBJECT_WAIT,
	JFR_SAMPLE_PARK,
	JFR_SAMPLE_EXCEPTION,	   /* state is its class */
	JFR_SAMPLE_DEOPTIMIZATION, /* the reason, and detail the action */
};

/* Samples of one chunk with the same ids. */
struct jfr_raw_total {
	int64_t stack;
	int64_t thread;
	int64_t state;
	int64_t detail;
	int64_t kind;
	/* The key ends here. */
	int64_t count;
	int64_t value; /* nanoseconds; 0: the period of the file */
};

/* One sample, when rows are kept. */
struct jfr_raw_sample {
	int64_t time_ns;
	uint32_t total; /* id of its raw total */
	/* See struct rec_sample; of samples of the CPU nothing. */
	int64_t value;
	union { /* of the Java heap, of waits */
		uint64_t object_bytes, address;
	};
	union {
		uint64_t tlab_bytes, timeout_ns;
	};
	int64_t by; /* of waits: a thread's id in the file */
};

/* What lives of a site of native memory, as the file said last. */
struct jfr_raw_live {
	uint32_t jvm;
	uint32_t stack;
	uint32_t tag;
	uint32_t metric; /* enum rec_metric */
	/* The key ends here. */
	int64_t count;
	int64_t bytes;
};

/* A memory ledger of which not all events were seen. */
struct jfr_reading {
	struct rec_ledger out; /* jvm 0: none */
	bool has_rss;
};

/* Rows of one kind. */
struct jfr_fill_rows {
	void *items; /* owned */
	size_t count, capacity;
};

/* What of collections and safepoints came apart: see jfr_fill_gc.c. */
struct jfr_fill_gc {
	struct map64 collections; /* by JVM and number: row of the recording */
	struct map64 safepoints;  /* the same: place in points */
	struct jfr_fill_rows sizes;
	struct jfr_fill_rows phases;
	struct jfr_fill_rows points;
	struct jfr_fill_rows stragglers;
};

struct jfr_filler {
	const struct jfr_fill_options *options;
	struct recording *rec;
	struct jfr_resolver resolver;
	struct table totals;		/* of struct jfr_raw_total, of this chunk */
	struct jfr_raw_sample *samples; /* owned */
	size_t sample_count, sample_capacity;
	uint64_t sample_bytes;	      /* of their events, in this chunk */
	int64_t cpu_time_samples;     /* in this chunk */
	int64_t objects;	      /* of the Java heap, in this chunk */
	struct jfr_raw_sample object; /* in our files: the last one, which its sample follows */
	int64_t period_ns;	      /* as the file states it, 0 not yet */
	bool is_ours;		      /* the chunk was written by us */
	bool has_quality;	      /* and has its own counts */
	struct table natives;	      /* of struct jfr_raw_live, of all chunks */
	struct table suspects;	      /* of struct told: see jfr_fill_sites.c */
	struct jfr_reading reading;
	struct jfr_fill_gc gc;
	struct strbuf text;
	int err;
};

enum {
	JFR_FILL_EXECUTION_SAMPLE = JFR_RESOLVE_WANTS,
	JFR_FILL_NATIVE_SAMPLE,
	JFR_FILL_CPU_TIME_SAMPLE,
	JFR_FILL_CPU_TIME_LOST,
	JFR_FILL_JVM_INFORMATION,
	JFR_FILL_GC_CONFIGURATION,
	JFR_FILL_OS_INFORMATION,
	JFR_FILL_CPU_INFORMATION,
	JFR_FILL_ACTIVE_SETTING,
	JFR_FILL_DATA_LOSS,
	JFR_FILL_RECORDING,
	JFR_FILL_JVM,
	JFR_FILL_THREAD_TIME,
	JFR_FILL_QUALITY,
	JFR_FILL_NATIVE_ALLOCATION,
	JFR_FILL_NATIVE_MAPPING,
	JFR_FILL_MALLOC,
	JFR_FILL_NATIVE_SITE,
	JFR_FILL_NATIVE_SUSPECT,
	JFR_FILL_NATIVE_CALLS,
	JFR_FILL_NATIVE_COUNT,
	JFR_FILL_PROBE_BUDGET,
	JFR_FILL_PROBE_STATE,
	JFR_FILL_LEDGER_READING,
	JFR_FILL_LEDGER,
	JFR_FILL_LEDGER_PART,
	JFR_FILL_LIBC_HEAP,
	JFR_FILL_BUFFERS,
	JFR_FILL_NMT_TAG,
	JFR_FILL_SETTING_PLACES,
	JFR_FILL_COUNTER_PLACES,
	JFR_FILL_VALUE,
	JFR_FILL_HEAP_PLACES,
	JFR_FILL_EVENT_PLACES,
	JFR_FILL_COLLECTION,
	JFR_FILL_GC_HEAP,
	JFR_FILL_GC_METASPACE,
	JFR_FILL_GC_PAUSE,
	JFR_FILL_GC_PAUSE_LEVEL1,
	JFR_FILL_GC_PAUSE_LEVEL2,
	JFR_FILL_GC_PAUSE_LEVEL3,
	JFR_FILL_GC_PAUSE_LEVEL4,
	JFR_FILL_GC_CONCURRENT,
	JFR_FILL_GC_CONCURRENT_LEVEL1,
	JFR_FILL_GC_CONCURRENT_LEVEL2,
	JFR_FILL_SAFEPOINT_BEGIN,
	JFR_FILL_SAFEPOINT_END,
	JFR_FILL_VM_OPERATION,
	JFR_FILL_VM_COUNT,
	JFR_FILL_STRAGGLER,
	JFR_FILL_WANTS,
};

/* jfr_fill_about.c: events that say something about the whole. ctx is a struct jfr_filler. */
void jfr_fill_jvm_information(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_configuration(void *ctx, const struct jfr_item *e);
void jfr_fill_os_information(void *ctx, const struct jfr_item *e);
void jfr_fill_cpu_information(void *ctx, const struct jfr_item *e);
void jfr_fill_active_setting(void *ctx, const struct jfr_item *e);
void jfr_fill_data_loss(void *ctx, const struct jfr_item *e);
void jfr_fill_recording(void *ctx, const struct jfr_item *e);
void jfr_fill_jvm(void *ctx, const struct jfr_item *e);
void jfr_fill_thread_time(void *ctx, const struct jfr_item *e);
void jfr_fill_quality(void *ctx, const struct jfr_item *e);

/* When an event says it was, as rec_time(). */
int64_t jfr_fill_time(const struct jfr_item *e, unsigned int field);
/* A text of the recording; 0 for none. */
uint32_t jfr_fill_text(struct jfr_filler *f, const struct jfr_item *e, unsigned int field);
/* In a file that says nothing of its JVM, what is in it is still of one: resolver.jvm. */
void jfr_fill_some_jvm(struct jfr_filler *f);
/* The last JVM with this pid, else the one of files that name none; 0 when there is none. */
uint32_t jfr_fill_jvm_of(struct jfr_filler *f, int64_t pid);

/*
 * jfr_fill.c: the total of what an event is a sample of, with its id; of what is too much for a
 * recording one without stack and thread. NULL when memory is out.
 */
struct jfr_raw_total *jfr_fill_total_of(struct jfr_filler *f, const struct jfr_item *e,
					const struct jfr_raw_total *key, uint32_t *id);

/* jfr_fill.c: adds the sample of an event, all of it but its total. */
void jfr_fill_sample(struct jfr_filler *f, const struct jfr_item *e,
		     const struct jfr_raw_total *key, const struct jfr_raw_sample *sample);

/*
 * jfr_fill_heap.c: at the end of the chunk: adds what has one key. Returns whether its samples are
 * wanted.
 */
bool jfr_fill_allocation_key(struct jfr_filler *f, const struct jfr_raw_total *raw,
			     struct rec_key *key);

/* jfr_fill_events.c: at the end of the chunk: adds what has one key, which is of no CPU. */
struct rec_key jfr_fill_event_key(struct jfr_filler *f, const struct jfr_raw_total *raw);

/* jfr_fill_native.c: native memory. */
void jfr_fill_native_allocation(void *ctx, const struct jfr_item *e);
void jfr_fill_native_mapping(void *ctx, const struct jfr_item *e);
void jfr_fill_malloc(void *ctx, const struct jfr_item *e);
/* At the end of the chunk: blocks of one stack and thread. */
void jfr_fill_malloc_total(struct jfr_filler *f, const struct jfr_raw_total *raw);

/* jfr_fill_sites.c: the rest of it, in our files. */
void jfr_fill_native_site(void *ctx, const struct jfr_item *e);
void jfr_fill_native_suspect(void *ctx, const struct jfr_item *e);
void jfr_fill_native_calls(void *ctx, const struct jfr_item *e);
void jfr_fill_native_count(void *ctx, const struct jfr_item *e);
void jfr_fill_probe_budget(void *ctx, const struct jfr_item *e);
void jfr_fill_probe_state(void *ctx, const struct jfr_item *e);

/* jfr_fill_ledger.c: memory ledgers, in our files. */
void jfr_fill_ledger_reading(void *ctx, const struct jfr_item *e);
void jfr_fill_ledger_line(void *ctx, const struct jfr_item *e);
void jfr_fill_ledger_part(void *ctx, const struct jfr_item *e);
void jfr_fill_libc_heap(void *ctx, const struct jfr_item *e);
void jfr_fill_buffers(void *ctx, const struct jfr_item *e);
void jfr_fill_nmt_tag(void *ctx, const struct jfr_item *e);
void jfr_fill_value(void *ctx, const struct jfr_item *e);
/* At the end of the chunk: the last one is complete. */
void jfr_fill_ledger_end(struct jfr_filler *f);

#endif
