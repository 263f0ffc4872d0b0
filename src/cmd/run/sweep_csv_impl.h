/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep as the table that `explain --from` reads (doc/tables.md). */
#pragma once
#include <jansson.h>
#include <stdio.h>
