# SPDX-License-Identifier: BSD-3-Clause
pkglibexec_PROGRAMS += sweetspot-worker
sweetspot_worker_SOURCES = \
	%D%/main.c
sweetspot_worker_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
sweetspot_worker_LDADD = libkernels.la libcounters.la libtopo.la libbase.la
