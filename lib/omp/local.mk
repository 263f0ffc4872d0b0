# SPDX-License-Identifier: BSD-3-Clause
if SHARED
# Preloaded into users' programs: libc only, every other symbol is hidden. Found by its path, so it has no version.
# Beside the worker, so that a bundle takes it along.
preloaddir = $(pkglibexecdir)
preload_LTLIBRARIES = libsweetspot-omp.la
libsweetspot_omp_la_SOURCES = %D%/omp_count.c %D%/cpus.c %D%/format.h %D%/gomp.c %D%/kmp.c %D%/omp_impl.h %D%/omp_probe.c \
	%D%/omp_record.c %D%/region.c %D%/runtime.c %D%/settings.c %D%/omp_sizes.c %D%/slot.c %D%/table.c lib/record/spool.c lib/record/spool.h
libsweetspot_omp_la_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(CODE_COVERAGE_CFLAGS) -O2 -fvisibility=hidden -pthread
libsweetspot_omp_la_LDFLAGS = -module -avoid-version -shared -no-undefined -pthread -Wl,-z,nodelete
endif
