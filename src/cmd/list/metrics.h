/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `list metrics --chip NAME [PREFIX]`: the hardware metrics of a GPU, as CUPTI's host API lists them. */
#ifndef SRC_CMD_LIST_METRICS_H
#define SRC_CMD_LIST_METRICS_H
#include "src/app/cmd.h"

/* Prints them, or writes JSON; if chip is NULL, those of the GPU here. ERR_UNAVAILABLE without CUPTI, or without both
 * chip and GPU. */
int list_chip_metrics(struct app *app, const char *chip, const char *prefix, bool json, struct err *err);

#endif
