/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

struct colors terminal_colors(enum option_color color, FILE *out)
{
	static const struct colors on = { "\033[1m", "\033[32m", "\033[33m", "\033[31m", "\033[m" };
	static const struct colors off = { "", "", "", "", "" };
	const char *no_color = getenv("NO_COLOR");
	bool wanted = false;

	switch (color) {
	case COLOR_ALWAYS:
		wanted = true;
		break;
	case COLOR_NEVER:
		break;
	case COLOR_AUTO:
		wanted = isatty(fileno(out)) && !is_dumb() && !(no_color && *no_color);
		break;
	}
	return wanted ? on : off;
}

bool terminal_can_rewrite(FILE *out)
{
	return isatty(fileno(out)) && !is_dumb();
}

int terminal_width(FILE *out)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}
