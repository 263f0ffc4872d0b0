# SPDX-License-Identifier: BSD-3-Clause
libkernels_la_SOURCES += \
	%D%/loops.c %D%/kmeans_cuda_impl.h
nobase_dist_pkgdata_DATA += \
	%D%/naive.cu %D%/transpose.cu %D%/shared.cu %D%/all_gpu.cu %D%/partial.cu %D%/means.cu \
	%D%/fused.cu %D%/bounds.cu %D%/tensor.cu %D%/distance.cuh %D%/bracket.cuh
