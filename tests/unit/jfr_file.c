/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/fakes_jfr.h"
#include "unit/jfr_walk.h"
#include "unit/unit.h"

#define CHUNK_NS 1000000000
/* Calls of an append; the file cannot be read between the first and GIVEN. */
#define APPEND_CALLS 6
#define GIVEN	     3

static char folder[] = "/tmp/jvmscope-unit-XXXXXX";
static char path[64];
static struct recording *rec;
static struct jfr_file *file;
static struct jfr_writer *writer;
static int64_t now_ns;

static void setup(void)
{
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.jfr", folder);
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
	now_ns = rec_meta(rec)->start_time_ns = 1700000000000000000;
	file = NULL;
	writer = NULL;
	fake_disk = (struct fake_disk){ 0 };
}

static void teardown(void)
{
	fake_disk = (struct fake_disk){ 0 };
	jfr_writer_close(writer);
	jfr_file_close(file);
	rec_free(rec);
	unlink(path);
	/* Fails when a temporary was left. */
	CU_ASSERT(rmdir(folder) == 0);
}

/* Chunks of so many segments at most. */
static void open_segments(uint64_t max_bytes, uint64_t max_age_ns, unsigned int segments)
{
	const struct jfr_file_limits limits = { max_bytes, max_age_ns };
	struct jfr_writer_options options = {
		.sink = jfr_file_append,
		.chunk_bytes = segments > 1 ? UINT64_MAX : 0,
		.chunk_ns = (uint64_t)segments * CHUNK_NS,
	};

	ASSERT_INT(jfr_file_open(path, &limits, &file), 0);
	options.ctx = file;
	ASSERT_INT(jfr_writer_open(&options, rec, &writer), 0);
}

static void open_file(uint64_t max_bytes, uint64_t max_age_ns)
{
	open_segments(max_bytes, max_age_ns, 1);
}

static void close_file(void)
{
	jfr_writer_close(writer);
	jfr_file_close(file);
	writer = NULL;
	file = NULL;
	now_ns = rec_meta(rec)->start_time_ns;
}

/* A chunk or segment of a second. */
static int add_chunk(void)
{
	struct rec_sample sample = { .time_ns = now_ns };

	for (int i = 0; i < 100; i++)
		jfr_writer_sample(writer, rec, &sample);
	now_ns += CHUNK_NS;
	return jfr_writer_segment(writer, rec, now_ns, -1);
}

static uint8_t *read_file(size_t *size)
{
	struct stat found;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes;

	CU_ASSERT_FATAL(fd >= 0 && fstat(fd, &found) == 0);
	bytes = malloc((size_t)found.st_size + 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	ASSERT_INT(read(fd, bytes, (size_t)found.st_size), found.st_size);
	close(fd);
	*size = (size_t)found.st_size;
	return bytes;
}

struct seen {
	uint64_t first_ns; /* start of the first chunk */
	uint64_t end_ns;   /* of the last */
	int samples;
	int undeclared;
};

static void see_chunk(void *ctx, const struct walked_chunk *chunk)
{
	struct seen *seen = ctx;

	if (!seen->first_ns)
		seen->first_ns = chunk->start_ns;
	seen->end_ns = chunk->start_ns + chunk->duration_ns;
}

static void see_event(void *ctx, const struct walked_event *event)
{
	struct seen *seen = ctx;

	seen->samples += event->type == 2;
	seen->undeclared += event->type == JFR_UNDECLARED || event->type == 'L';
}

/* Chunks that a reader finds, -1 when it refuses the file. */
static int look(struct seen *seen)
{
	const struct walker walker = { see_chunk, see_event, seen };
	size_t size;
	uint8_t *bytes = read_file(&size);
	int chunks = walk(bytes, size, &walker);

	free(bytes);
	return chunks;
}

static void chunks_stand_one_behind_the_other(void)
{
	struct seen seen = { 0 };
	struct stat found;

	open_file(0, 0);
	CU_ASSERT(access(path, F_OK) != 0);
	for (int i = 0; i < 5; i++)
		ASSERT_INT(add_chunk(), 0);
	ASSERT_INT(jfr_file_chunks(file), 5);
	ASSERT_INT(stat(path, &found), 0);
	ASSERT_INT(jfr_file_size(file), found.st_size);
	ASSERT_INT(look(&seen), 5);
	ASSERT_INT(seen.samples, 500);
	ASSERT_INT(seen.undeclared, 0);
	ASSERT_INT(seen.first_ns, 1700000000000000000);
	ASSERT_INT(seen.end_ns, 1700000005000000000);
}

/* What a process that ends behind one of the calls of an append leaves. */
static int look_when_ended(int call, struct seen *seen)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		fake_disk = (struct fake_disk){ .end_at = call };
		add_chunk();
		_exit(1);
	}
	CU_ASSERT_FATAL(waitpid(pid, &status, 0) == pid);
	ASSERT_INT(status, 0);
	return look(seen);
}

static void a_kill_at_any_moment_leaves_the_chunks(void)
{
	for (int call = 1; call <= APPEND_CALLS; call++) {
		struct seen seen = { 0 };
		int chunks;

		open_file(0, 0);
		ASSERT_INT(add_chunk(), 0);
		ASSERT_INT(add_chunk(), 0);
		chunks = look_when_ended(call, &seen);
		if (call < GIVEN) {
			/* The file is longer than its chunks say: two calls of no work. */
			ASSERT_INT(chunks, -1);
		} else {
			/* The fifth call is what makes it three. */
			ASSERT_INT(chunks, call < 5 ? 2 : 3);
			ASSERT_INT(seen.samples, call < 5 ? 200 : 300);
			ASSERT_INT(seen.undeclared, call < 5 ? 2 : call < APPEND_CALLS);
		}
		close_file();
		unlink(path);
	}
}

static void a_kill_at_any_moment_leaves_the_segments(void)
{
	for (int call = 1; call <= APPEND_CALLS; call++) {
		struct seen seen = { 0 };
		int chunks;

		open_segments(0, 0, 9);
		ASSERT_INT(add_chunk(), 0);
		ASSERT_INT(add_chunk(), 0);
		chunks = look_when_ended(call, &seen);
		ASSERT_INT(chunks, call < GIVEN ? -1 : 1);
		if (call >= GIVEN) {
			/* The fifth call is what makes it longer, the last one uncovers its events.
			 */
			ASSERT_INT(seen.end_ns, 1700000002000000000 + (call < 5 ? 0 : CHUNK_NS));
			ASSERT_INT(seen.samples, call < APPEND_CALLS ? 200 : 300);
			ASSERT_INT(seen.undeclared, call < APPEND_CALLS);
		}
		close_file();
		unlink(path);
	}
}

static void check_full_disk(unsigned int segments)
{
	size_t size, now;
	uint8_t *before, *after;
	int failed = 0;

	open_segments(0, 0, segments);
	ASSERT_INT(add_chunk(), 0);
	ASSERT_INT(add_chunk(), 0);
	before = read_file(&size);
	for (int call = 1; call < APPEND_CALLS; call++) {
		fake_disk = (struct fake_disk){ .full_at = call };
		if (!add_chunk())
			break; /* the calls that need no room */
		failed++;
		after = read_file(&now);
		ASSERT_INT(now, size);
		ASSERT_INT(memcmp(before, after, size), 0);
		ASSERT_INT(jfr_file_chunks(file), segments > 1 ? 1 : 2);
		free(after);
	}
	ASSERT_INT(failed, 4);
	free(before);
}

static void a_full_disk_leaves_the_file_as_it_was(void)
{
	check_full_disk(1);
}

static void a_full_disk_leaves_the_segments_as_they_were(void)
{
	check_full_disk(9);
}

static void segments_are_parts_of_chunks(void)
{
	struct seen seen = { 0 };

	open_segments(0, 0, 3);
	for (int i = 1; i <= 7; i++) {
		seen = (struct seen){ 0 };
		ASSERT_INT(add_chunk(), 0);
		ASSERT_INT(look(&seen), (i + 2) / 3);
		ASSERT_INT(jfr_file_chunks(file), (i + 2) / 3);
		ASSERT_INT(seen.samples, 100 * i);
		ASSERT_INT(seen.undeclared, 0);
		ASSERT_INT(seen.end_ns, now_ns);
	}
}

/* The segment that is too much belongs to the last chunk, which then stays. */
static void segments_are_kept_with_their_chunk(void)
{
	struct seen seen = { 0 };
	uint64_t max_bytes, largest = 0;

	open_file(0, 0);
	ASSERT_INT(add_chunk(), 0);
	max_bytes = jfr_file_size(file) * 4;
	close_file();
	unlink(path);
	open_segments(max_bytes, 0, 4);
	for (int i = 1; i <= 40; i++) {
		seen = (struct seen){ 0 };
		ASSERT_INT(add_chunk(), 0);
		ASSERT_INT(look(&seen), jfr_file_chunks(file));
		CU_ASSERT_FATAL(jfr_file_size(file) <= max_bytes);
		ASSERT_INT(seen.end_ns, now_ns);
		ASSERT_INT(seen.end_ns - seen.first_ns, seen.samples * (CHUNK_NS / 100ull));
		largest = jfr_file_size(file) > largest ? jfr_file_size(file) : largest;
	}
	CU_ASSERT(largest > max_bytes / 2);
	CU_ASSERT(seen.first_ns > 1700000000000000000);
	close_file();
	unlink(path);
	/* A limit that only one chunk is within: what it has is kept. */
	open_segments(1, 0, 4);
	for (int i = 1; i <= 7; i++) {
		seen = (struct seen){ 0 };
		ASSERT_INT(add_chunk(), 0);
		ASSERT_INT(look(&seen), 1);
		ASSERT_INT(seen.samples, 100 * ((i - 1) % 4 + 1));
	}
}

static void a_disk_that_is_full_at_once_leaves_no_file(void)
{
	open_file(0, 0);
	fake_disk.full_at = 1;
	ASSERT_INT(add_chunk(), -ENOSPC);
	CU_ASSERT(access(path, F_OK) != 0);
	ASSERT_INT(jfr_file_chunks(file), 0);
}

static void the_size_is_kept_and_the_newest_stays(void)
{
	struct seen seen = { 0 };
	uint64_t chunk_size, max_bytes;

	open_file(0, 0);
	ASSERT_INT(add_chunk(), 0);
	chunk_size = jfr_file_size(file);
	teardown();
	setup();
	/* Later chunks are some bytes longer: times grow. */
	max_bytes = chunk_size * 8;
	open_file(max_bytes, 0);
	for (int i = 0; i < 30; i++) {
		ASSERT_INT(add_chunk(), 0);
		CU_ASSERT_FATAL(jfr_file_size(file) <= max_bytes);
	}
	ASSERT_INT(look(&seen), jfr_file_chunks(file));
	CU_ASSERT_FATAL(jfr_file_chunks(file) >= 5);
	ASSERT_INT(seen.end_ns, 1700000030000000000);
	ASSERT_INT(seen.first_ns, seen.end_ns - jfr_file_chunks(file) * CHUNK_NS);
}

static void a_chunk_that_is_larger_than_the_file_may_be_is_kept_alone(void)
{
	struct seen seen = { 0 };

	open_file(1, 0);
	for (int i = 0; i < 3; i++)
		ASSERT_INT(add_chunk(), 0);
	ASSERT_INT(look(&seen), 1);
	ASSERT_INT(seen.end_ns, 1700000003000000000);
}

static void the_age_is_kept_and_a_little_more_until_the_end(void)
{
	struct seen seen = { 0 };
	size_t most = 0;

	open_file(0, 8ull * CHUNK_NS);
	for (int i = 0; i < 30; i++) {
		ASSERT_INT(add_chunk(), 0);
		CU_ASSERT_FATAL(jfr_file_chunks(file) >= (size_t)(i < 8 ? i + 1 : 9));
		most = jfr_file_chunks(file) > most ? jfr_file_chunks(file) : most;
	}
	CU_ASSERT(most > 9 && most <= 11);
	ASSERT_INT(jfr_file_close(file), 0);
	file = NULL;
	ASSERT_INT(look(&seen), 9);
	ASSERT_INT(seen.end_ns, 1700000030000000000);
	ASSERT_INT(seen.samples, 900);
}

static void a_full_disk_while_forgetting_leaves_the_file(void)
{
	struct seen seen = { 0 };

	open_file(0, 0);
	ASSERT_INT(add_chunk(), 0);
	teardown();
	setup();
	open_file(100000, 0);
	for (int i = 0; i < 2; i++)
		ASSERT_INT(add_chunk(), 0);
	fake_disk.full_at = 1;
	ASSERT_INT(add_chunk(), -ENOSPC);
	ASSERT_INT(look(&seen), 2);
	ASSERT_INT(seen.samples, 200);
}

static void a_pipe_gets_chunks_and_cannot_forget(void)
{
	struct seen seen = { 0 };
	const struct walker walker = { see_chunk, see_event, &seen };
	static uint8_t bytes[1 << 20];
	ssize_t size;
	int fd;

	ASSERT_INT(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0 && fcntl(fd, F_SETPIPE_SZ, sizeof(bytes)) > 0);
	open_file(0, 0);
	ASSERT_INT(add_chunk(), 0);
	ASSERT_INT(add_chunk(), 0);
	size = read(fd, bytes, sizeof(bytes));
	ASSERT_INT(walk(bytes, (size_t)size, &walker), 2);
	ASSERT_INT(seen.samples, 200);
	close_file();
	open_segments(0, 0, 9);
	CU_ASSERT(jfr_file_is_stream(file));
	ASSERT_INT(add_chunk(), 0);
	ASSERT_INT(add_chunk(), -EINVAL);
	close_file();
	open_file(1 << 20, 0);
	ASSERT_INT(add_chunk(), -ESPIPE);
	close(fd);
}

static CU_TestInfo tests[] = {
	{ "chunks stand one behind the other", chunks_stand_one_behind_the_other },
	{ "a kill at any moment leaves the chunks", a_kill_at_any_moment_leaves_the_chunks },
	{ "a kill at any moment leaves the segments", a_kill_at_any_moment_leaves_the_segments },
	{ "a full disk leaves the file as it was", a_full_disk_leaves_the_file_as_it_was },
	{ "a full disk leaves the segments as they were",
	  a_full_disk_leaves_the_segments_as_they_were },
	{ "segments are parts of chunks", segments_are_parts_of_chunks },
	{ "segments are kept with their chunk", segments_are_kept_with_their_chunk },
	{ "a disk that is full at once leaves no file",
	  a_disk_that_is_full_at_once_leaves_no_file },
	{ "the size is kept and the newest stays", the_size_is_kept_and_the_newest_stays },
	{ "a chunk that is larger than the file may be is kept alone",
	  a_chunk_that_is_larger_than_the_file_may_be_is_kept_alone },
	{ "the age is kept, and a little more until the end",
	  the_age_is_kept_and_a_little_more_until_the_end },
	{ "a full disk while forgetting leaves the file",
	  a_full_disk_while_forgetting_leaves_the_file },
	{ "a pipe gets chunks and cannot forget", a_pipe_gets_chunks_and_cannot_forget },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jfr_file_suite = {
	.pName = "jfr_file",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
