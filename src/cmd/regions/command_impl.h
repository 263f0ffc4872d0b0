/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the commands of this room. */
#ifndef SRC_CMD_REGIONS_COMMAND_IMPL_H
#define SRC_CMD_REGIONS_COMMAND_IMPL_H
#include "src/cmd/regions/target_impl.h"
#include "tuner/regions/regions.h"
#endif
