/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_CMD_REGIONS_REGIONS_IMPL_H
#define SRC_CMD_REGIONS_REGIONS_IMPL_H
#include <jansson.h>

#include "src/cmd/regions/target_impl.h"
#include "src/ui/ui.h"
#include "tuner/regions/regions.h"

/* Regions for people. */
void regions_profile_print(struct ui *ui, const json_t *profile);
/* result: of tune; command: how to run the program so. */
void regions_result_print(struct ui *ui, const json_t *result, const char *command);
#endif
