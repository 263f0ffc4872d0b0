# SPDX-License-Identifier: BSD-3-Clause
# A variant is one file and one line.
libkernels_la_SOURCES += \
	%D%/naive.c \
	%D%/tiled.c \
	%D%/tasks.c \
	%D%/tasks_inner.c \
	%D%/simd.c \
	%D%/inner_loops.c \
	%D%/serial.c \
	%D%/isa.c %D%/isa_tile.h %D%/plain_tile.h %D%/simd_tile.h \
	%D%/tile.c \
	%D%/dijkstra.c \
	%D%/fw.h
libkernels_counted_la_SOURCES += \
	%D%/naive.c %D%/tiled.c %D%/tasks.c %D%/tasks_inner.c %D%/simd.c %D%/inner_loops.c %D%/serial.c
include %D%/cuda/local.mk
