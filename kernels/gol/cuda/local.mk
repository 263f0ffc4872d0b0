# SPDX-License-Identifier: BSD-3-Clause
libkernels_la_SOURCES += \
	%D%/gol_cuda_impl.h
nobase_dist_pkgdata_DATA += \
	%D%/bits.cu \
	%D%/byte.cu
