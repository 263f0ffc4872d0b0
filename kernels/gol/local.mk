# SPDX-License-Identifier: BSD-3-Clause
# A variant is one file and one line.
libkernels_la_SOURCES += \
	%D%/gol.h \
	%D%/grid.c \
	%D%/oracle.c \
	%D%/int.c \
	%D%/byte.c \
	%D%/bits.c
