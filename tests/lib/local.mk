# SPDX-License-Identifier: GPL-3.0-or-later
# libsweetspot, and what the worker makes of what it writes.
check_PROGRAMS += %D%/app
%C%_app_SOURCES = %D%/app.c
%C%_app_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -pthread
%C%_app_LDADD = libsweetspot.la

lib_tests = %D%/regions %D%/counted %D%/hostile
check_PROGRAMS += $(lib_tests)
TESTS += $(lib_tests)
%C%_regions_SOURCES = %D%/regions.c %D%/rig.h
%C%_regions_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_regions_LDADD = libworker.la libcounters.la libtopo.la libbase.la
%C%_counted_SOURCES = %D%/counted.c %D%/rig.h tests/worker/protocol_client.c tests/worker/protocol_client.h
%C%_counted_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_counted_LDADD = libworker.la libcounters.la libtopo.la libbase.la
%C%_hostile_SOURCES = %D%/hostile.c %D%/fuzz_regions.c %D%/rig.h
%C%_hostile_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_hostile_LDADD = libworker.la libcounters.la libtopo.la libbase.la

dist_check_SCRIPTS += %D%/linked
