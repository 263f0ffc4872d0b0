# SPDX-License-Identifier: BSD-3-Clause
# A variant, a generator and a reader are one file and one line each.
libkernels_la_SOURCES += \
	%D%/rows.c \
	%D%/jump.c \
	%D%/afforest.c \
	%D%/serial.c \
	%D%/kmer.c %D%/rgg.c %D%/queen.c %D%/rmat.c \
	%D%/metis.c %D%/matrix_market.c %D%/edge_list.c %D%/serialized.c \
	%D%/file.c %D%/cc_impl.h \
	%D%/build.c \
	%D%/check.c \
	%D%/cc.h
libkernels_counted_la_SOURCES += \
	%D%/rows.c %D%/jump.c %D%/afforest.c %D%/serial.c
include %D%/cuda/local.mk
