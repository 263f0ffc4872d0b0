# SPDX-License-Identifier: BSD-3-Clause
# ceiling_cuda.c is in KERNELS.
libkernels_la_SOURCES += \
	%D%/cost.c \
	%D%/ceiling_cuda_impl.h
nobase_dist_pkgdata_DATA += \
	%D%/arithmetic.cu \
	%D%/memory.cu \
	%D%/shared.cu \
	%D%/cost.cu
