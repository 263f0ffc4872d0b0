# SPDX-License-Identifier: BSD-3-Clause
# Everything but main and the kernels' registry, so that checks can link a registry of their own.
noinst_LTLIBRARIES += libworker.la
libworker_la_LIBADD = libgpu.la
libworker_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libworker_la_SOURCES = %D%/answers.c %D%/cli.c %D%/worker_impl.h %D%/manual.c \
	%D%/measure.c %D%/request.c \
	%D%/worker_trial.c
include %D%/kernel/local.mk
include %D%/count/local.mk
include %D%/program/local.mk
include %D%/gpu/local.mk
include %D%/source/local.mk

pkglibexec_PROGRAMS += sweetspot-worker
sweetspot_worker_SOURCES = %D%/worker_main.c
sweetspot_worker_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
sweetspot_worker_LDADD = libworker.la libkernels.la libgpu.la libcounters.la libtopo.la libbase.la
sweetspot_worker_LDFLAGS = $(AM_LDFLAGS) $(BUNDLE_RPATH_WORKER)
