# SPDX-License-Identifier: BSD-3-Clause
libkernels_la_SOURCES += \
	%D%/quake_cuda_impl.h
nobase_dist_pkgdata_DATA += \
	%D%/step.cu \
	%D%/tiles.cu
