/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of a page. */
#ifndef SRC_CMD_REPORT_CHARTS_IMPL_H
#define SRC_CMD_REPORT_CHARTS_IMPL_H
#include "base/mem.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"

struct charts;
struct charts *charts_new(struct html *html);
void charts_free(struct charts *charts);
size_t charts_count(const struct charts *charts);

/* Adds a figure with the chart and its description. id: any text; a unique id is derived from it. Charts beyond a limit
 * are counted but not drawn, because the tables have the same numbers. */
void charts_add(struct charts *charts, const char *id, const struct chart *chart);
/* Says that charts were left out, at the end of the page. */
void charts_notice(const struct charts *charts);

/* Adds a line to a chart of at most 16, with room for that many points. A line without points is not drawn. */
struct chart_series *chart_line(struct arena *arena, struct chart *chart, const char *name, enum chart_style style,
                                size_t most);
void chart_dot(struct chart_series *line, double x, double y, double low, double high);
const struct chart_mark *chart_mark(struct arena *arena, double x, double y);

/* The page; the caller frees it. dir: folder of the PNG files, or NULL for none. NULL with err if these cannot
 * be made. */
char *charts_finish(struct charts *charts, const char *dir, size_t *size, struct err *err);

/* Writes each chart into the folder as SVG, and its values as CSV. */
int charts_files(const struct charts *charts, const char *dir, struct err *err);
#endif
