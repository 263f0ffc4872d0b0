/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions for people. */
#ifndef SRC_CMD_REGIONS_SHOW_IMPL_H
#define SRC_CMD_REGIONS_SHOW_IMPL_H
#include <jansson.h>

#include "src/ui/ui.h"

void regions_profile_print(struct ui *ui, const json_t *profile);
/* result: of tune; command: how to run the program so. */
void regions_result_print(struct ui *ui, const json_t *result, const char *command);
#endif
