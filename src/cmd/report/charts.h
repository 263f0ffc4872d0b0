/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of a page. Each one gets a slot while the page is written, and all are drawn together at the end. */
#ifndef SRC_CMD_REPORT_CHARTS_H
#define SRC_CMD_REPORT_CHARTS_H
#include "src/base/mem.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"

struct charts;
struct charts *charts_new(struct html *html);
void charts_free(struct charts *charts);
/* Memory for the data that charts point to. */
struct arena *charts_arena(struct charts *charts);
size_t charts_count(const struct charts *charts);

/* Adds a figure with the chart and its description. id: any text; a unique id is derived from it. Charts beyond a limit
 * are counted but not drawn, because the tables have the same numbers. */
void charts_add(struct charts *charts, const char *id, const struct chart *chart);
/* Enclose the table with the numbers of a chart; it is folded if charts are drawn. */
void charts_numbers_begin(struct charts *charts, const char *title);
void charts_numbers_end(struct charts *charts);
/* Reserves the slot for the notice that charts are missing or were left out. */
void charts_notice(struct charts *charts);

/* The page; the caller frees it. dir: folder of the PNG files, or NULL for none. missing: the reason if there are no
 * charts. NULL with err if --png asks for pictures that cannot be made. */
char *charts_finish(struct charts *charts, const char *dir, size_t *size, struct err *missing, struct err *err);

#endif
