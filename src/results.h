/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the results of tune, run, compare and sweep look to people. */
#ifndef SRC_RESULTS_H
#define SRC_RESULTS_H
#include <jansson.h>

#include "src/ui.h"
#include "tuner/tune.h"

void results_progress(struct ui *ui, const struct tune_progress *progress);
/* The table of `tune`, the noise floor, what failed, and where things are; profile may be NULL. */
void results_print(struct ui *ui, const json_t *results, double noise_floor, const char *profile, const char *store);
/* "threads=2 variant=tiled block=64"; caller frees. base: leave out members that equal it; may be NULL. */
char *results_config(const json_t *config, const json_t *base);

#endif
