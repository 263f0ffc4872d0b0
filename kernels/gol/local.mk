# SPDX-License-Identifier: BSD-3-Clause
# Variants that share their loops are one file.
libkernels_la_SOURCES += \
	%D%/cells.c \
	%D%/temporal.c \
	%D%/simd.c %D%/simd_tile.h \
	%D%/gol.h
libkernels_counted_la_SOURCES += \
	%D%/cells.c %D%/temporal.c
