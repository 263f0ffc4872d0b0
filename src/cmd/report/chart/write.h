/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SRC_CMD_REPORT_CHART_WRITE_H
#define SRC_CMD_REPORT_CHART_WRITE_H
#include <stdio.h>

#include "src/base/err.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/chart/drawing.h"

/* Takes id, title and description from the chart. */
void svg_write(FILE *out, const struct drawing *drawing, const struct chart *chart);

#endif
