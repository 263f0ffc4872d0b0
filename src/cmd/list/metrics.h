/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `list metrics --chip NAME [PREFIX]`: what the chip of a GPU can count, as CUPTI's host API lists it. */
#ifndef SRC_CMD_LIST_METRICS_H
#define SRC_CMD_LIST_METRICS_H
#include "src/app/cmd.h"

/* Prints, or writes the JSON; chip NULL: that of the GPU here. ERR_UNAVAILABLE without CUPTI, or without chip and GPU.
 */
int list_chip_metrics(struct app *app, const char *chip, const char *prefix, bool json, struct err *err);

#endif
