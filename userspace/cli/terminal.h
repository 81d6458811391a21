/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_TERMINAL_H
#define JVMSCOPE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"

/* Escape sequences, or "" each where colours are off. */
struct colors {
	const char *bold;
	const char *good;
	const char *poor;
	const char *bad;
	const char *off;
};

/* auto: when out is a terminal, TERM is not dumb and NO_COLOR is not set. */
struct colors terminal_colors(enum option_color color, FILE *out);

/* Whether one line of it can be written over and over. */
bool terminal_can_rewrite(FILE *out);

/* Columns of a terminal, 80 when unknown. */
int terminal_width(FILE *out);

#endif
