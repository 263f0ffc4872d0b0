# SPDX-License-Identifier: BSD-3-Clause
# Variants that share their sweeps are one file; a generator and a reader are one file each.
libkernels_la_SOURCES += \
	%D%/rows.c \
	%D%/afforest.c \
	%D%/serial.c \
	%D%/kmer.c %D%/rgg.c %D%/queen.c %D%/rmat.c \
	%D%/metis.c %D%/matrix_market.c %D%/edge_list.c %D%/serialized.c \
	%D%/build.c \
	%D%/check.c \
	%D%/cc.h
libkernels_counted_la_SOURCES += \
	%D%/rows.c %D%/afforest.c %D%/serial.c
include %D%/cuda/local.mk
