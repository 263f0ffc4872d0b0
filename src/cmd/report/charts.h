/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of a page: they are placed while it is written, and drawn all at once. */
#ifndef SRC_CMD_REPORT_CHARTS_H
#define SRC_CMD_REPORT_CHARTS_H
#include "src/base/mem.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"

struct deck;
struct deck *deck_new(struct html *html);
void deck_free(struct deck *deck);
/* What charts point to lives in here. */
struct arena *deck_arena(struct deck *deck);
size_t deck_count(const struct deck *deck);

/* A figure with the chart and its description; id: any text, from which one is made that nothing else on the page has.
 * Beyond a limit nothing is drawn: the tables have the numbers. */
void deck_chart(struct deck *deck, const char *id, const struct chart *chart);
/* Around what says the same in numbers: folded where charts are drawn. */
void deck_numbers_begin(struct deck *deck, const char *title);
void deck_numbers_end(struct deck *deck);
/* Where it says why there are no charts, if there are none, or how many were left out. */
void deck_apology(struct deck *deck);

/* The page; caller frees. dir: where PNG files go, NULL for none. missing: why there are no charts, "" else. NULL and
 * err where --png asked for pictures that can't be made. */
char *deck_finish(struct deck *deck, const char *dir, size_t *size, struct err *missing, struct err *err);

#endif
