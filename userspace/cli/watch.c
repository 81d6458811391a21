/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch.h"

#include <string.h>

#include "base/log.h"
#include "live/live.h"
#include "target/discover.h"

struct look {
	struct watch *watch;
	struct live *live;
	struct map64 now;
};

static int on_jvm(pid_t pid, void *ctx)
{
	struct look *look = ctx;
	uint32_t index;
	int err;

	err = map64_set(&look->now, (uint64_t)pid, 1);
	if (err || map64_get(&look->watch->seen, (uint64_t)pid, &index))
		return err;
	if (live_add(look->live, pid, true, &index))
		look->watch->failed++;
	else
		look->watch->added++;
	return 0;
}

int watch_look(struct watch *watch, struct live *live)
{
	struct look look = { .watch = watch, .live = live };
	int err;

	err = discover_jvms(on_jvm, &look);
	if (err) {
		log_error("--all: cannot look for JVMs: %s", strerror(-err));
		map64_free(&look.now);
		return err;
	}
	map64_free(&watch->seen);
	watch->seen = look.now;
	return 0;
}

void watch_free(struct watch *watch)
{
	map64_free(&watch->seen);
	*watch = (struct watch){ 0 };
}
