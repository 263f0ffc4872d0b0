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
check_PROGRAMS += %D%/kmeans
TESTS += %D%/kmeans
%C%_kmeans_SOURCES = %D%/kmeans.c
%C%_kmeans_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_kmeans_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_kmeans_LDADD = $(gpu_test_LDADD)
