# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of what runs on a GPU. Where there is none they run in the emulator (emulator/), which needs g++.
include %D%/emulator/local.mk
EXTRA_DIST += %D%/device.h %D%/grid.h
gpu_test_CPPFLAGS = $(AM_CPPFLAGS) -DEMULATOR_CXX='"$(EMULATOR_CXX)"'
gpu_test_LDADD = libtuner.la libkernels.la libgpu.la libbase.la $(OPENMP_CFLAGS) -lm
check_PROGRAMS += %D%/conformance
TESTS += %D%/conformance
%C%_conformance_SOURCES = %D%/conformance.c
%C%_conformance_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_conformance_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_conformance_LDADD = $(gpu_test_LDADD)
check_PROGRAMS += %D%/compile_grid
TESTS += %D%/compile_grid
CLEANFILES += %D%/compile_grid.tsv
%C%_compile_grid_SOURCES = %D%/compile_grid.c
%C%_compile_grid_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_compile_grid_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_compile_grid_LDADD = $(gpu_test_LDADD)
check_PROGRAMS += %D%/kmeans
TESTS += %D%/kmeans
%C%_kmeans_SOURCES = %D%/kmeans.c
%C%_kmeans_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_kmeans_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_kmeans_LDADD = $(gpu_test_LDADD)

check_PROGRAMS += %D%/quake %D%/gol
TESTS += %D%/quake %D%/gol
EXTRA_DIST += %D%/stencil.h
%C%_quake_SOURCES = %D%/quake.c
%C%_quake_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_quake_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_quake_LDADD = $(gpu_test_LDADD)
%C%_gol_SOURCES = %D%/gol.c
%C%_gol_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_gol_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_gol_LDADD = $(gpu_test_LDADD)
check_PROGRAMS += %D%/cupti %D%/cupti_device
%C%_cupti_SOURCES = %D%/cupti.c
%C%_cupti_LDADD = libcounters.la libbase.la
%C%_cupti_device_SOURCES = %D%/cupti_device.c
%C%_cupti_device_LDADD = libcounters.la libgpu.la libbase.la
TESTS += %D%/cupti %D%/cupti_device
EXTRA_DIST += %D%/transposes.cu
dist_check_SCRIPTS += %D%/cupti_list
# A worker with a kernel that misbehaves on a GPU.
check_PROGRAMS += %D%/faulty-worker
%C%_faulty_worker_SOURCES = %D%/faulty_worker.c
%C%_faulty_worker_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_faulty_worker_LDADD = libworker.la libgpu.la libcounters.la libtopo.la libbase.la
EXTRA_DIST += %D%/twin.cu
dist_check_SCRIPTS += %D%/no_gpu %D%/device
# The layer itself.
EXTRA_DIST += %D%/layer.h
check_PROGRAMS += %D%/abi %D%/abi_layout %D%/occupancy %D%/cache %D%/compile %D%/layer %D%/broken
TESTS += %D%/abi %D%/abi_layout %D%/occupancy %D%/cache %D%/compile %D%/layer %D%/broken
%C%_abi_SOURCES = %D%/abi.c
%C%_abi_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
%C%_abi_layout_SOURCES = %D%/abi_layout.c
%C%_abi_layout_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
%C%_occupancy_SOURCES = %D%/occupancy.c
%C%_occupancy_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
%C%_occupancy_LDADD = libgpu.la libbase.la -lm
%C%_cache_SOURCES = %D%/cache.c
%C%_cache_LDADD = libgpu.la libbase.la
%C%_compile_SOURCES = %D%/compile.c
%C%_compile_LDADD = libgpu.la libbase.la
%C%_layer_SOURCES = %D%/layer.c
%C%_layer_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_layer_LDADD = libgpu.la libbase.la -lm
%C%_broken_SOURCES = %D%/broken.c
%C%_broken_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_broken_LDADD = libgpu.la libbase.la -lm
