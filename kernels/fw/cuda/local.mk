# SPDX-License-Identifier: BSD-3-Clause
# A variant is one .cu.
libkernels_la_SOURCES += \
	%D%/input.c %D%/rounds.c \
	%D%/fw_cuda_impl.h
nobase_dist_pkgdata_DATA += \
	%D%/base.cu %D%/factor.cu %D%/register.cu %D%/matrix.cu
