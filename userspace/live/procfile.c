/* SPDX-License-Identifier: Apache-2.0 */
#include "live/procfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool procfile_number(const char *path, const char *prefix, int base, int64_t *out)
{
	FILE *file = fopen(path, "re");
	size_t len = strlen(prefix);
	bool found = false;
	char line[256], *end;
	uint64_t value;

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		if (strncmp(line, prefix, len) != 0)
			continue;
		errno = 0;
		value = strtoull(line + len, &end, base);
		found = end != line + len && errno == 0;
		if (found)
			*out = (int64_t)value;
	}
	fclose(file);
	return found;
}
