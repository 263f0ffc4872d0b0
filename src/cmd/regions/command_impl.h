/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the commands of this room. */
#pragma once
#include "src/cmd/regions/target_impl.h"
#include "tuner/regions/regions.h"
