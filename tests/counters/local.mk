# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/papi
%C%_papi_SOURCES = %D%/papi.c
%C%_papi_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_papi_LDADD = libcounters.la libbase.la
TESTS += %D%/papi

if HAVE_SDE
check_PROGRAMS += %D%/sde
%C%_sde_SOURCES = %D%/sde.c
%C%_sde_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS)
%C%_sde_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_sde_LDADD = libcounters.la libbase.la $(SDE_LIBS) $(PAPI_LIBS)
TESTS += %D%/sde
endif

check_PROGRAMS += %D%/perf_denied
%C%_perf_denied_SOURCES = %D%/perf_denied.c

# Preloaded by papi_shim.
check_LTLIBRARIES += %D%/pfmshim.la
%C%_pfmshim_la_SOURCES = %D%/pfmshim.c
%C%_pfmshim_la_LDFLAGS = -module -avoid-version -rpath $(abs_builddir)/%D%
dist_check_SCRIPTS += %D%/papi_shim

dist_check_SCRIPTS += %D%/sde_run
EXTRA_DIST += %D%/sde_plugin.c
check_PROGRAMS += %D%/selftest
%C%_selftest_SOURCES = %D%/selftest.c
%C%_selftest_LDADD = libcounters.la libbase.la
TESTS += %D%/selftest
check_PROGRAMS += %D%/perf
%C%_perf_SOURCES = %D%/perf.c %D%/perf_help.h
%C%_perf_LDADD = libcounters.la libbase.la -lpthread
TESTS += %D%/perf

check_PROGRAMS += %D%/perf_events
%C%_perf_events_SOURCES = %D%/perf_events.c %D%/perf_help.h
%C%_perf_events_LDADD = libcounters.la libbase.la -lpthread
TESTS += %D%/perf_events

check_PROGRAMS += %D%/perf_rights
%C%_perf_rights_SOURCES = %D%/perf_rights.c %D%/perf_help.h
%C%_perf_rights_LDADD = libcounters.la libbase.la
TESTS += %D%/perf_rights

check_PROGRAMS += %D%/perf_programs
%C%_perf_programs_SOURCES = %D%/perf_programs.c tests/worker/protocol_client.c
%C%_perf_programs_LDADD = libbase.la
TESTS += %D%/perf_programs
