# SPDX-License-Identifier: BSD-3-Clause
libkernels_la_SOURCES += %D%/propagate.c %D%/contract.c %D%/forest.c %D%/cc_cuda_impl.h
nobase_dist_pkgdata_DATA += %D%/rows.cu %D%/contract.c %D%/contract.cu %D%/forest.cu %D%/trees.cuh
