/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked, with the plain tile update: what blocking alone gives. */
#include "kernels/fw/fw.h"

static void tiled_run(const struct fw_state *s) {
	fw_blocks_run(s, KERNEL_COUNTED(fw_tile_update));
}

const struct fw_variant KERNEL_COUNTED(fw_tiled) = {.name = "tiled", .form = FW_TILES, .run = tiled_run};
