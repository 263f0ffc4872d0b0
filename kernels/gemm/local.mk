# SPDX-License-Identifier: BSD-3-Clause
# A variant is one file and one line.
libkernels_la_SOURCES += \
	%D%/serial.c \
	%D%/naive.c \
	%D%/rows.c \
	%D%/tiled.c \
	%D%/simd.c %D%/simd_tile.h \
	%D%/oracle.c \
	%D%/gemm.h
