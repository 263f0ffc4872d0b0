# SPDX-License-Identifier: BSD-3-Clause
libkernels_la_SOURCES += %D%/graph.c %D%/state.c %D%/figures.c %D%/propagate.c %D%/forest.c %D%/device.h
nobase_dist_pkgdata_DATA += %D%/rows.cu %D%/forest.cu
