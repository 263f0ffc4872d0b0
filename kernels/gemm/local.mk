# SPDX-License-Identifier: BSD-3-Clause
# Variants that share their loops are one file.
libkernels_la_SOURCES += \
	%D%/loops.c \
	%D%/simd.c %D%/simd_tile.h \
	%D%/gemm.h
