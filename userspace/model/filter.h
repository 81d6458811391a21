/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_FILTER_H
#define JVMSCOPE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"
#include "model/recording.h"
#include "trie/trie.h"

/*
 * The class-name rules on the stacks of a recording: which frames are the application's, and
 * which are a library's.
 *
 * A Java frame is library code when the longest rule that matches its class has a number above 0.
 * With the number 0, and without a rule, it is application code. Frames that are not Java (the
 * kernel, libjvm, JNI libraries, stubs) are neither: no rule speaks of them.
 */
enum filter_mode {
	FILTER_MARK, /* each Java method gets its rule; counts; nothing is taken away */
	FILTER_FOLD, /* and each run of library frames becomes one frame "[library]" */
	FILTER_DROP, /* and samples without any application frame are dropped */
	FILTER_OFF,
	FILTER_MODE_NR,
};
const char *filter_mode_name(enum filter_mode mode);

enum filter_code { FILTER_APPLICATION, FILTER_LIBRARY, FILTER_NOT_JAVA };

/*
 * The filter of one recording. rec, trie and mode are set by the caller, the rest starts zeroed;
 * rec and the trie's words are borrowed.
 */
struct filter {
	struct recording *rec;
	struct trie trie;
	enum filter_mode mode;
	struct map64 classes;	/* string id of a class: its rule, 0 none */
	uint32_t library_frame; /* the frame that stands for a run; 0 not made yet */
	int err;		/* -ENOMEM when classes could not be remembered */
};

/*
 * What code a frame is. A class that was not seen before is looked up, and it and its rule are
 * counted in the recording. With FILTER_OFF every Java frame is the application's.
 */
enum filter_code filter_code(struct filter *filter, uint32_t frame);

/*
 * One stack, leaf first: folds it in place as the mode says. Returns whether it stays. This is all
 * that who writes stacks one by one needs; counts of frames and samples are of filter_count().
 */
bool filter_stack(struct filter *filter, uint32_t *frames, size_t *count);

/*
 * The whole of a complete recording, in two steps that are each done once: looks up all methods and
 * counts frames and samples by rule; then folds and drops. source says where the rules are from,
 * for readers of the recording. Both return 0 or -ENOMEM, which leaves all stacks as they were.
 */
int filter_count(struct filter *filter, const char *source);
int filter_edit(struct filter *filter);

/* Both, one after the other. */
int filter_apply(struct filter *filter, const char *source);

/* Releases what the filter owns; not what it borrows. */
void filter_free(struct filter *filter);

#endif
