# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/rapl
%C%_rapl_SOURCES = %D%/rapl.c
%C%_rapl_LDADD = libcounters.la libbase.la
TESTS += %D%/rapl

check_PROGRAMS += %D%/rusage
%C%_rusage_SOURCES = %D%/rusage.c
%C%_rusage_LDADD = libcounters.la libbase.la
TESTS += %D%/rusage

check_PROGRAMS += %D%/simulate_file
%C%_simulate_file_SOURCES = %D%/simulate_file.c
%C%_simulate_file_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_simulate_file_LDADD = libworker.la libcounters.la libtopo.la libbase.la
TESTS += %D%/simulate_file

dist_check_SCRIPTS += %D%/simulate
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
