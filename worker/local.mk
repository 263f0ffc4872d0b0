# SPDX-License-Identifier: BSD-3-Clause
# Everything but main and the kernels' registry, so that checks can link a registry of their own.
noinst_LTLIBRARIES += libworker.la
libworker_la_LIBADD = libgpu.la
libworker_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libworker_la_SOURCES = %D%/cli.c %D%/cli.h %D%/counters_answer.c %D%/counters_answer.h %D%/describe.c \
	%D%/describe.h %D%/device_report.c %D%/device_report.h %D%/devices_answer.c %D%/devices_answer.h \
	%D%/figures.c %D%/figures.h %D%/keeper.c %D%/keeper.h %D%/machine_answer.c %D%/machine_answer.h %D%/manual.c %D%/manual.h \
	%D%/measure.c %D%/measure.h %D%/protocol.c %D%/protocol.h %D%/request.c %D%/request.h %D%/simulate_child.c \
	%D%/trial.c %D%/trial.h
include %D%/kernel/local.mk
include %D%/count/local.mk
include %D%/program/local.mk
include %D%/gpu/local.mk
include %D%/source/local.mk

pkglibexec_PROGRAMS += sweetspot-worker
sweetspot_worker_SOURCES = %D%/main.c
sweetspot_worker_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
sweetspot_worker_LDADD = libworker.la libkernels.la libgpu.la libcounters.la libtopo.la libbase.la
sweetspot_worker_LDFLAGS = $(AM_LDFLAGS) $(BUNDLE_RPATH_WORKER)
