# SPDX-License-Identifier: BSD-3-Clause
# A kernel is one file (or one folder) and one line in KERNELS; the line is also its registry entry. A kernel for another
# device is a line of its own, %D%/NAME/cuda/NAME_cuda.c.
KERNELS = %D%/synthetic.c
KERNELS += %D%/ceiling/ceiling.c
KERNELS += %D%/gol/gol.c
KERNELS += %D%/kmeans/kmeans.c
KERNELS += %D%/locks/locks.c
KERNELS += %D%/lists/lists.c
KERNELS += %D%/fw/fw.c
KERNELS += %D%/cc/cc.c
KERNELS += %D%/quake/quake.c
KERNELS += %D%/gemm/gemm.c
KERNELS += %D%/ceiling/cuda/ceiling_cuda.c
KERNELS += %D%/fw/cuda/fw_cuda.c
KERNELS += %D%/cc/cuda/cc_cuda.c
KERNELS += %D%/gol/cuda/gol_cuda.c
KERNELS += %D%/quake/cuda/quake_cuda.c
KERNELS += %D%/kmeans/cuda/kmeans_cuda.c
KERNELS += %D%/gemm/cuda/gemm_cuda.c

noinst_LTLIBRARIES += libkernels.la
libkernels_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libkernels_la_SOURCES = $(KERNELS) %D%/registry.c %D%/registry.h %D%/kernel.h \
	%D%/answer.c %D%/answer.h %D%/count.h %D%/cuda.c %D%/cuda.h %D%/fail.c %D%/fail.h %D%/pages.h %D%/isa.h %D%/random.h
# The files that count events, once more (count.h says how).
noinst_LTLIBRARIES += libkernels_counted.la
libkernels_la_LIBADD = libkernels_counted.la libgpu.la
libkernels_counted_la_CFLAGS = $(libkernels_la_CFLAGS) -DKERNEL_COUNTING
libkernels_counted_la_SOURCES =
nodist_libkernels_la_SOURCES = %D%/registry.def
# GPU code is data: installed as text, compiled at run time. kernels/NAME/cuda/local.mk adds to it.
nobase_dist_pkgdata_DATA = %D%/sweetspot.cuh
include %D%/ceiling/local.mk
include %D%/gol/local.mk
include %D%/kmeans/local.mk
include %D%/locks/local.mk
include %D%/lists/local.mk
include %D%/fw/local.mk
include %D%/cc/local.mk
include %D%/quake/local.mk
include %D%/gemm/local.mk
include %D%/gol/cuda/local.mk
include %D%/quake/cuda/local.mk
include %D%/gemm/cuda/local.mk

kernelincludedir = $(includedir)/sweetspot
kernelinclude_HEADERS = %D%/kernel.h

# KERNEL(name, "sha256:..."): the hash is over the kernel's folder, or its file, and kernels/*.h.
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
EXTRA_DIST += build-aux/gen-kernels
%D%/registry.def: Makefile $(libkernels_la_SOURCES) build-aux/gen-kernels
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(top_srcdir)/build-aux/gen-kernels $(top_srcdir) $(KERNELS) >$@
