/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "import/import_impl.h"
#include "jfr/jfr_fill.h"

#define LOOK_AT	 4096
#define JSON_MAX (256u << 20) /* it is read as a whole, and takes some ten times its size */

static const char *name_of(const struct import_options *options)
{
	return strcmp(options->path, "-") != 0 ? options->path : "standard input";
}

static int refuse(const struct import_options *options, int err, const char *why)
{
	log_error("%s: %s", name_of(options), why ? why : jfr_input_strerror(err));
	return err;
}

/* ---- the formats */

static int read_jfr(struct jfr_input *in, const struct import_options *options,
		    struct recording *rec, struct import_result *result)
{
	struct jfr_fill_options fill = {
		.name = name_of(options),
		.keep_samples = options->keep_samples,
	};
	struct jfr_result read;
	int err = jfr_fill(in, &fill, rec, &read);

	if (err)
		return refuse(options, err, err == -EBADMSG ? read.refusal : NULL);
	result->damaged =
		read.unfinished || read.bytes_lost || read.events_damaged || read.constants_damaged;
	return 0;
}

static int read_json(struct jfr_input *in, const struct import_options *options,
		     struct recording *rec, struct import_result *result)
{
	size_t len = jfr_input_need(in, JSON_MAX + 1ull);
	char why[256];
	int err;

	(void)result;
	if (in->err)
		return refuse(options, in->err, NULL);
	if (len > JSON_MAX)
		return refuse(options, -E2BIG, "JSON over 256 MiB is not read");
	rec_samples_keep(rec, options->keep_samples);
	err = import_json((const char *)in->at, len, rec, why, sizeof(why));
	return err ? refuse(options, err, err == -EBADMSG ? why : NULL) : 0;
}

static int read_collapsed(struct jfr_input *in, const struct import_options *options,
			  struct recording *rec, struct import_result *result)
{
	uint64_t bad_lines = 0;
	int err = import_collapsed(in, rec, &bad_lines);

	if (err == -EBADMSG)
		return refuse(options, err,
			      "in no format that can be read (JFR, JSON of jvmscope, collapsed)");
	if (err)
		return refuse(options, err, NULL);
	if (bad_lines)
		log_warn("%s: %" PRIu64 " lines have no count at their end, and are left out",
			 name_of(options), bad_lines);
	if (in->err)
		log_warn("%s: offset %" PRIu64 ": %s", name_of(options), in->offset,
			 jfr_input_strerror(in->err));
	result->damaged = bad_lines || in->err;
	return 0;
}

/* ---- which of them */

typedef int reader(struct jfr_input *, const struct import_options *, struct recording *,
		   struct import_result *);

static reader *reader_of(struct jfr_input *in)
{
	size_t have = jfr_input_need(in, LOOK_AT);
	const uint8_t *at = in->at;

	if (have >= 3 && !memcmp(at, "FLR", 3))
		return read_jfr;
	for (; have && strchr(" \t\r\n", *at) && *at; have--)
		at++;
	if (have && *at == '{')
		return read_json;
	return read_collapsed;
}

int import_file(const struct import_options *options, struct recording *rec,
		struct import_result *result)
{
	struct jfr_input in;
	int err;

	*result = (struct import_result){ 0 };
	err = jfr_input_open(options->path, &in);
	if (err)
		return refuse(options, err, NULL);
	if (jfr_input_need(&in, 1))
		err = reader_of(&in)(&in, options, rec, result);
	else
		err = refuse(options, in.err ? in.err : -EBADMSG,
			     in.err ? NULL : "the file is empty");
	jfr_input_close(&in);
	return err;
}
