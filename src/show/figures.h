/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the figures that kernels report about their runs in addition to the time. */
#ifndef SRC_SHOW_FIGURES_H
#define SRC_SHOW_FIGURES_H
#include <jansson.h>
#include <stdio.h>

/* "figures" of a trial, one per line. */
void figures_print(const json_t *figures, FILE *out);
/* "series" of a trial: one line per step, one column per series. */
void figures_series_print(const json_t *series, FILE *out);
/* The figure of this name with its unit, for a cell; "-" if it is missing. */
void figures_cell(const json_t *figures, const char *name, char *text, size_t size);
#endif
