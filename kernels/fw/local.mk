# SPDX-License-Identifier: BSD-3-Clause
# Variants that share their loops are one file.
libkernels_la_SOURCES += \
	%D%/triple.c \
	%D%/tiled.c \
	%D%/tasks.c \
	%D%/simd.c \
	%D%/inner_loops.c \
	%D%/isa.c %D%/isa_tile.h %D%/plain_tile.h %D%/simd_tile.h \
	%D%/tile.c \
	%D%/fw.h
libkernels_counted_la_SOURCES += \
	%D%/triple.c %D%/tiled.c %D%/tasks.c %D%/simd.c %D%/inner_loops.c
include %D%/cuda/local.mk
