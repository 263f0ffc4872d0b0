/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of a drawing. */
#ifndef SRC_CMD_REPORT_CHART_WRITE_H
#define SRC_CMD_REPORT_CHART_WRITE_H
#include <stdio.h>

#include "src/base/err.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/chart/drawing.h"

/* The texts of <title> and <desc> are the chart's. */
void svg_write(FILE *out, const struct drawing *drawing, const struct chart *chart);
/* Commands for gnuplot, which make FILE.png. */
void script_write(FILE *out, const struct drawing *drawing, const char *file);
/* Runs gnuplot in the folder. ERR_UNAVAILABLE where it isn't installed. */
int gnuplot_run(const char *script, size_t size, const char *folder, struct err *err);

#endif
