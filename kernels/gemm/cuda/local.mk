# SPDX-License-Identifier: BSD-3-Clause
libkernels_la_SOURCES += \
	%D%/gemm_cuda_impl.h
nobase_dist_pkgdata_DATA += \
	%D%/simple.cu \
	%D%/warp.cu \
	%D%/mma.cu \
	%D%/wgmma.cu \
	%D%/wgmma.cuh
