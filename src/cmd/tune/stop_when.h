/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `--stop-when gain<1%`: ends a search early if the strategy expects to gain less than that with the rest of the
 * budget. */
#ifndef SRC_CMD_TUNE_STOP_WHEN_H
#define SRC_CMD_TUNE_STOP_WHEN_H
#include "base/opt.h"
#include "tuner/search/search.h"

extern const struct opt stop_when_options[];
/* Reads the gain, for example 0.01 for 1 %; 0 if the option is absent. ERR_USAGE for anything but gain<X% and gain<0.X.
 */
int stop_when_read(const struct opt_args *args, double *gain, struct err *err);
/* Never true if gain is 0, before a configuration worked, or if the strategy cannot predict the gain. */
bool stop_when_holds(double gain, const struct search *search, uint64_t left);
#endif
