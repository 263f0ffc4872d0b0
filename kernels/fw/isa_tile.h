/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included once for each instruction set: its kernels for both types. Before it: ISA_NAME(word), ISA_TARGET
 * (a function attribute or nothing), ISA_LANES (cells in a vector), ISA_ROWS (rows of a panel held in registers),
 * ISA_MIN_INT32(x, y) and ISA_MIN_FLOAT(x, y). */
#define TILE_TARGET ISA_TARGET
#define TILE_LANES  ISA_LANES
#define TILE_ROWS   ISA_ROWS

#define TILE_NAME(word) ISA_NAME(int32_##word)
#define TILE_CELL       int32_t
#define TILE_MIN(x, y)  ((TILE_NAME(vec))ISA_MIN_INT32(x, y))
#include "kernels/fw/plain_tile.h"
#include "kernels/fw/simd_tile.h"
#undef TILE_NAME
#undef TILE_CELL
#undef TILE_MIN

#define TILE_NAME(word) ISA_NAME(float_##word)
#define TILE_CELL       float
#define TILE_MIN(x, y)  ((TILE_NAME(vec))ISA_MIN_FLOAT(x, y))
#include "kernels/fw/plain_tile.h"
#include "kernels/fw/simd_tile.h"
#undef TILE_NAME
#undef TILE_CELL
#undef TILE_MIN

#define ISA_OPS(type)                                                                                                  \
	{ ISA_NAME(type##_row), ISA_NAME(type##_tile), ISA_NAME(type##_relax), ISA_NAME(type##_close) }
static const struct fw_ops ISA_NAME(ops)[FW_TYPES] = {[FW_INT32] = ISA_OPS(int32), [FW_FLOAT] = ISA_OPS(float)};

#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_ROWS
#undef ISA_OPS
#undef ISA_NAME
#undef ISA_TARGET
#undef ISA_LANES
#undef ISA_ROWS
#undef ISA_MIN_INT32
#undef ISA_MIN_FLOAT
