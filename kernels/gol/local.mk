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
	%D%/row.c \
	%D%/oracle.c \
	%D%/gol.h
libkernels_counted_la_SOURCES += \
	%D%/int.c %D%/byte.c %D%/simd8.c %D%/bits.c %D%/temporal.c %D%/serial.c
