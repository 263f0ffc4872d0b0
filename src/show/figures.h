/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kernels tell of their runs beside the time, as people see it. */
#ifndef SRC_SHOW_FIGURES_H
#define SRC_SHOW_FIGURES_H
#include <jansson.h>
#include <stdio.h>

/* "figures" of a trial, a line each. */
void figures_print(const json_t *figures, FILE *out);
/* "series" of a trial: a line a step, a column each. */
void figures_series_print(const json_t *series, FILE *out);
/* The value of this name, with its unit, as a cell; "-" where there is none. */
void figures_cell(const json_t *figures, const char *name, char *text, size_t size);

#endif
