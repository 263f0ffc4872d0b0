/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of a page: they are placed while it is written, and drawn all at once. */
#ifndef SRC_CMD_REPORT_CHARTS_H
#define SRC_CMD_REPORT_CHARTS_H
#include "src/base/mem.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"

struct charts;
struct charts *charts_new(struct html *html);
void charts_free(struct charts *charts);
/* What charts point to lives in here. */
struct arena *charts_arena(struct charts *charts);
size_t charts_count(const struct charts *charts);

/* A figure with the chart and its description; id: any text, from which one is made that nothing else on the page has.
 * Beyond a limit nothing is drawn: the tables have the numbers. */
void charts_add(struct charts *charts, const char *id, const struct chart *chart);
/* Around what says the same in numbers: folded where charts are drawn. */
void charts_numbers_begin(struct charts *charts, const char *title);
void charts_numbers_end(struct charts *charts);
/* Where it says why there are no charts, if there are none, or how many were left out. */
void charts_notice(struct charts *charts);

/* The page; caller frees. dir: where PNG files go, NULL for none. missing: why there are no charts, "" else. NULL and
 * err where --png asked for pictures that can't be made. */
char *charts_finish(struct charts *charts, const char *dir, size_t *size, struct err *missing, struct err *err);

#endif
