# SPDX-License-Identifier: BSD-3-Clause
# A ceiling is one file and one line.
libkernels_la_SOURCES += \
	%D%/read.c \
	%D%/copy.c \
	%D%/triad.c \
	%D%/fp.c \
	%D%/addmin.c \
	%D%/handover.c \
	%D%/fork_join.c \
	%D%/barrier.c \
	%D%/reduction.c \
	%D%/task.c \
	%D%/simd.c \
	%D%/ceiling.h
include %D%/cuda/local.mk
