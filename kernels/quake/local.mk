# SPDX-License-Identifier: BSD-3-Clause
# A variant is one file and one line.
libkernels_la_SOURCES += \
	%D%/serial.c \
	%D%/rows.c \
	%D%/collapse.c \
	%D%/fused.c \
	%D%/temporal.c \
	%D%/simd.c %D%/simd_tile.h \
	%D%/sweep.c %D%/oracle.c \
	%D%/quake.h
libkernels_counted_la_SOURCES += \
	%D%/serial.c %D%/rows.c %D%/collapse.c %D%/simd.c
