# SPDX-License-Identifier: BSD-3-Clause
if SHARED
# Preloaded into users' programs: libc only, every other symbol is hidden. Beside the worker, so that a bundle takes it along.
preload_LTLIBRARIES += libsweetspot-mpi.la
libsweetspot_mpi_la_SOURCES = %D%/mpi_wait.c
libsweetspot_mpi_la_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(CODE_COVERAGE_CFLAGS) -O2 -fvisibility=hidden -pthread
libsweetspot_mpi_la_LDFLAGS = -module -avoid-version -shared -no-undefined -pthread -Wl,-z,nodelete
endif
