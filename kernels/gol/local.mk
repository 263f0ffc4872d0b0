# SPDX-License-Identifier: BSD-3-Clause
# A variant is one file and one line.
libkernels_la_SOURCES += \
	%D%/int.c \
	%D%/byte.c \
	%D%/simd8.c \
	%D%/bits.c \
	%D%/temporal.c \
	%D%/serial.c \
	%D%/simd.c %D%/simd_tile.h \
	%D%/grid.c %D%/row.c \
	%D%/oracle.c %D%/window.c %D%/expect.c %D%/compare.c \
	%D%/figures.c \
	%D%/gol.h
libkernels_counted_la_SOURCES += \
	%D%/int.c %D%/byte.c %D%/simd8.c %D%/bits.c %D%/temporal.c %D%/serial.c
