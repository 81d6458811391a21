/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/collapsed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "base/text.h"

/*
 * Frames become labels first, and lines are compared label by label: the text of a million deep
 * stacks would not fit into memory.
 */
struct line {
	uint32_t stack;
	uint32_t root; /* label of the thread, 0 none */
	int64_t count;
};

struct document {
	const struct recording *rec;
	const struct export_options *options;
	struct intern labels;
	uint32_t *frame_label;	/* owned; [frame id] */
	uint32_t *thread_label; /* owned; [thread id]; NULL without threads */
	uint32_t unknown;	/* the label of a stack without frames */
	struct line *lines;	/* owned */
	size_t count;
};

/* ---- labels */

/* Whatever would end a frame or a line is replaced; an empty frame would be lost by readers. */
static uint32_t add_label(struct document *doc, const struct strbuf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		if (text->text[i] == ';')
			text->text[i] = ':';
	}
	return text->len ? intern_add(&doc->labels, text->text, text->len) : doc->unknown;
}

/* The suffixes of async-profiler, so that its readers colour the frames. */
static const char *suffix_of(enum rec_frame_kind kind)
{
	static const char *const suffixes[REC_FRAME_KIND_NR] = {
		[REC_FRAME_INTERPRETED] = "_[0]", [REC_FRAME_C1] = "_[1]",
		[REC_FRAME_C2] = "_[j]",	  [REC_FRAME_INLINED] = "_[i]",
		[REC_FRAME_KERNEL] = "_[k]",
	};

	return suffixes[kind] ? suffixes[kind] : "";
}

static int label_frames(struct document *doc)
{
	uint32_t count = rec_frame_count(doc->rec);
	size_t size = rec_text_size(doc->rec);
	struct strbuf label = { 0 };
	char *text = malloc(size);
	int err = 0;

	doc->frame_label = calloc((size_t)count + 1, sizeof(*doc->frame_label));
	if (!text || !doc->frame_label) {
		err = -ENOMEM;
		goto out;
	}
	for (uint32_t id = 0; id <= count && !err; id++) {
		const struct rec_frame *frame = rec_frame_get(doc->rec, id);

		strbuf_reset(&label);
		strbuf_puts(&label, rec_frame_text(doc->rec, id, text, size));
		if (doc->options->lines && frame->line >= 0 && label.len)
			strbuf_printf(&label, ":%d", frame->line);
		if (doc->options->annotate && label.len)
			strbuf_puts(&label, suffix_of(frame->kind));
		doc->frame_label[id] = add_label(doc, &label);
		if (!doc->frame_label[id])
			err = -ENOMEM;
	}
out:
	strbuf_free(&label);
	free(text);
	return err;
}

static uint32_t label_thread(struct document *doc, const struct rec_thread *thread)
{
	struct strbuf label = { 0 };
	char text[4096];
	const char *name = thread ? rec_text(doc->rec, thread->name) : "";
	uint32_t id;

	strbuf_add(&label, text, text_utf8(name, strlen(name), text, sizeof(text)));
	if (!label.len && thread)
		strbuf_printf(&label, "[tid=%d]", thread->tid);
	id = add_label(doc, &label);
	strbuf_free(&label);
	return id;
}

static int label_threads(struct document *doc)
{
	uint32_t count = rec_thread_count(doc->rec);

	if (!doc->options->threads)
		return 0;
	doc->thread_label = calloc((size_t)count + 1, sizeof(*doc->thread_label));
	if (!doc->thread_label)
		return -ENOMEM;
	for (uint32_t id = 0; id <= count; id++) {
		doc->thread_label[id] = label_thread(doc, rec_thread_get(doc->rec, id));
		if (!doc->thread_label[id])
			return -ENOMEM;
	}
	return 0;
}

/* ---- lines */

/* Number of frames of a line, the thread being one. Never 0. */
static uint32_t depth_of(const struct line *line, const struct rec_stack *stack)
{
	uint32_t depth = stack->count + (line->root != 0);

	return depth ? depth : 1;
}

/* The label at a depth, 0 being the root. */
static uint32_t label_at(const struct document *doc, const struct line *line,
			 const struct rec_stack *stack, uint32_t depth)
{
	if (line->root) {
		if (!depth)
			return line->root;
		depth--;
	}
	if (depth >= stack->count)
		return doc->unknown;
	return doc->frame_label[stack->frames[stack->count - 1 - depth]];
}

/* As strcmp() of the labels with what is behind each: ';' or the space before the count. */
static int compare_labels(const struct document *doc, uint32_t a, uint32_t b, const char *ends)
{
	size_t a_len, b_len, common;
	const char *a_text = intern_get(&doc->labels, a, &a_len);
	const char *b_text = intern_get(&doc->labels, b, &b_len);
	int order;

	common = a_len < b_len ? a_len : b_len;
	order = memcmp(a_text, b_text, common);
	if (order)
		return order;
	order = (unsigned char)(a_len > common ? a_text[common] : ends[0]) -
		(unsigned char)(b_len > common ? b_text[common] : ends[1]);
	if (order)
		return order;
	return a_len < b_len ? -1 : a_len > b_len;
}

static int compare_lines(const void *a, const void *b, void *context)
{
	const struct document *doc = context;
	const struct line *x = a, *y = b;
	struct rec_stack x_stack, y_stack;
	uint32_t x_depth, y_depth;

	if (x->stack == y->stack && x->root == y->root)
		return 0;
	x_stack = rec_stack_get(doc->rec, x->stack);
	y_stack = rec_stack_get(doc->rec, y->stack);
	x_depth = depth_of(x, &x_stack);
	y_depth = depth_of(y, &y_stack);
	for (uint32_t i = 0; i < x_depth && i < y_depth; i++) {
		uint32_t x_label = label_at(doc, x, &x_stack, i);
		uint32_t y_label = label_at(doc, y, &y_stack, i);
		char ends[2] = { i + 1 < x_depth ? ';' : ' ', i + 1 < y_depth ? ';' : ' ' };

		if (x_label != y_label)
			return compare_labels(doc, x_label, y_label, ends);
	}
	return x_depth < y_depth ? -1 : x_depth > y_depth;
}

/* Samples of CPU time, as everybody counts them; bytes of memory. */
static int64_t amount(const struct rec_total *total)
{
	return total->key.metric == REC_CPU ? total->count : total->value;
}

static bool is_wanted(const struct document *doc, const struct rec_total *total)
{
	return total->key.metric == doc->options->metric && amount(total);
}

/* Without threads most rows differ by thread only: one line a stack leaves little to sort. */
static int collect_stacks(struct document *doc, const struct rec_total *totals, size_t count)
{
	size_t *line_of = calloc((size_t)rec_stack_count(doc->rec) + 1, sizeof(*line_of));

	if (!line_of)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t stack = totals[i].key.stack;
		struct line *line;

		if (!is_wanted(doc, &totals[i]))
			continue;
		if (!line_of[stack]) {
			doc->lines[doc->count++].stack = stack;
			line_of[stack] = doc->count;
		}
		line = &doc->lines[line_of[stack] - 1];
		line->count = rec_sum(line->count, amount(&totals[i]));
	}
	free(line_of);
	return 0;
}

static int collect_lines(struct document *doc)
{
	size_t count;
	const struct rec_total *totals = rec_totals(doc->rec, &count);

	doc->lines = calloc(count + 1, sizeof(*doc->lines));
	if (!doc->lines)
		return -ENOMEM;
	if (!doc->thread_label)
		return collect_stacks(doc, totals, count);
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(doc, &totals[i]))
			continue;
		doc->lines[doc->count++] = (struct line){
			.stack = totals[i].key.stack,
			.root = doc->thread_label[totals[i].key.thread],
			.count = amount(&totals[i]),
		};
	}
	return 0;
}

static void merge_lines(struct document *doc)
{
	size_t kept = 0;

	qsort_r(doc->lines, doc->count, sizeof(*doc->lines), compare_lines, doc);
	for (size_t i = 0; i < doc->count; i++) {
		if (kept && !compare_lines(&doc->lines[kept - 1], &doc->lines[i], doc))
			doc->lines[kept - 1].count =
				rec_sum(doc->lines[kept - 1].count, doc->lines[i].count);
		else
			doc->lines[kept++] = doc->lines[i];
	}
	doc->count = kept;
}

/* ---- output */

static int write_line(const struct document *doc, const struct line *line, FILE *out)
{
	struct rec_stack stack = rec_stack_get(doc->rec, line->stack);
	uint32_t depth = depth_of(line, &stack);

	errno = 0;
	if (!depth)
		fputs("[unknown]", out);
	for (uint32_t i = 0; i < depth; i++) {
		size_t len;
		const char *text = intern_get(&doc->labels, label_at(doc, line, &stack, i), &len);

		if (i)
			putc_unlocked(';', out);
		fwrite_unlocked(text, 1, len, out);
	}
	fprintf(out, " %lld\n", (long long)line->count);
	if (ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

static int write_lines(const struct document *doc, FILE *out)
{
	for (size_t i = 0; i < doc->count; i++) {
		int err = write_line(doc, &doc->lines[i], out);

		if (err)
			return err;
	}
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

int collapsed_write(const struct recording *rec, const struct export_options *options, FILE *out)
{
	static const char unknown[] = "[unknown]";
	struct document doc = { .rec = rec, .options = options };
	int err;

	doc.unknown = intern_add(&doc.labels, unknown, sizeof(unknown) - 1);
	err = doc.unknown ? label_frames(&doc) : -ENOMEM;
	if (!err)
		err = label_threads(&doc);
	if (!err)
		err = collect_lines(&doc);
	if (!err) {
		merge_lines(&doc);
		err = write_lines(&doc, out);
	}
	intern_free(&doc.labels);
	free(doc.frame_label);
	free(doc.thread_label);
	free(doc.lines);
	return err;
}
