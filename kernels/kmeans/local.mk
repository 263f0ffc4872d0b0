# SPDX-License-Identifier: BSD-3-Clause
# A variant is one file and one line.
libkernels_la_SOURCES += \
	%D%/serial.c \
	%D%/shared.c \
	%D%/privatized.c \
	%D%/blocked.c %D%/simd.c %D%/simd_tile.h \
 %D%/oracle.c \
	%D%/kmeans.h
libkernels_counted_la_SOURCES += \
	%D%/serial.c %D%/shared.c %D%/privatized.c %D%/blocked.c
include %D%/cuda/local.mk
