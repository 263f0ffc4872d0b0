# SPDX-License-Identifier: BSD-3-Clause
# A variant is one .cu.
libkernels_la_SOURCES += \
	%D%/input.c %D%/bands.c %D%/rounds.c %D%/run.c %D%/files.c %D%/check.c \
	%D%/fw_cuda.h
nobase_dist_pkgdata_DATA += \
	%D%/base.cu %D%/factor.cu %D%/register.cu %D%/matrix.cu
