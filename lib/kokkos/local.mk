# SPDX-License-Identifier: BSD-3-Clause
if SHARED
# Loaded into users' programs by Kokkos: libc only, every other symbol is hidden. Beside the worker, so that a bundle takes it along.
preload_LTLIBRARIES += libsweetspot-kokkos.la
libsweetspot_kokkos_la_SOURCES = %D%/kokkos_tool.c %D%/record/kokkos_record.c %D%/record/kokkos_record.h %D%/space/kokkos_abi.h \
	%D%/space/kokkos_profile.c %D%/space/kokkos_space.h %D%/space/kokkos_variable.c $(LIB_INSIDE)
libsweetspot_kokkos_la_CPPFLAGS = $(AM_CPPFLAGS) -DSS_LIBDIR='"$(libdir)"'
libsweetspot_kokkos_la_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) $(CODE_COVERAGE_CFLAGS) -O2 -fvisibility=hidden -pthread
libsweetspot_kokkos_la_LDFLAGS = -module -avoid-version -shared -no-undefined -pthread -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/%D%/kokkos.map
libsweetspot_kokkos_la_LIBADD = -lm
EXTRA_libsweetspot_kokkos_la_DEPENDENCIES = %D%/kokkos.map
endif
EXTRA_DIST += %D%/kokkos.map
