/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writers of a drawing. */
#ifndef SRC_CMD_REPORT_CHART_WRITE_H
#define SRC_CMD_REPORT_CHART_WRITE_H
#include <stdio.h>

#include "src/base/err.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/chart/drawing.h"

/* Takes id, title and description from the chart. */
void svg_write(FILE *out, const struct drawing *drawing, const struct chart *chart);
/* Writes gnuplot commands that create FILE.png. */
void script_write(FILE *out, const struct drawing *drawing, const char *file);
/* Runs gnuplot in the folder. Fails with ERR_UNAVAILABLE if it is not installed. */
int gnuplot_run(const char *script, size_t size, const char *folder, struct err *err);

#endif
