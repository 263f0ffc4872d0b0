# SPDX-License-Identifier: BSD-3-Clause
cuda_sources = %D%/count.c %D%/format.h %D%/inject.c %D%/inject_impl.h \
	lib/record/spool.c lib/record/spool.h
if SHARED
if HAVE_CUPTI
# Loaded into users' programs by the CUDA driver: libc only, every other symbol is hidden. Beside the worker, so that a
# bundle takes it along.
preload_LTLIBRARIES += libsweetspot-cuda.la
libsweetspot_cuda_la_SOURCES = $(cuda_sources)
libsweetspot_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
libsweetspot_cuda_la_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(CODE_COVERAGE_CFLAGS) -O2 -fvisibility=hidden -pthread
libsweetspot_cuda_la_LDFLAGS = -module -avoid-version -shared -no-undefined -pthread -Wl,-z,nodelete
endif
endif
