/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILL_H
#define JVMSCOPE_JFR_FILL_H

#include "jfr/jfr_input.h"
#include "jfr/jfr_read.h"
#include "model/recording.h"

/*
 * A recording from JFR: of ours everything that the writer put into it, of others what they say of
 * the same things.
 *
 * CPU samples are jdk.ExecutionSample, but not of sleeping threads, which async-profiler's wall
 * clock mode has; in chunks with jdk.CPUTimeSample, which measures the same better, only those.
 * jdk.NativeMethodSample is of threads that may wait and so is no CPU time, unless the state says
 * that the thread was on a CPU, as in our files. What was left out is counted among the quality
 * rows.
 *
 * Native memory is jvmscope.NativeAllocation, and in files of others profiler.Malloc: what was
 * allocated, not what lives.
 *
 * The value of a sample is the period that the file states. A virtual thread's tid is minus its
 * Java id.
 */
struct jfr_fill_options {
	const char *name;  /* of the file, for messages */
	bool keep_samples; /* rows of samples, for outputs that need them */
};

/*
 * Adds the file's contents to rec; what is damaged is said in warnings. Returns 0; -EBADMSG when it
 * is no recording, -ENOMEM, or the negative errno of reading, all without a message but with
 * result->refusal. *result is written in each case.
 */
int jfr_fill(struct jfr_input *in, const struct jfr_fill_options *options, struct recording *rec,
	     struct jfr_result *result);

#endif
