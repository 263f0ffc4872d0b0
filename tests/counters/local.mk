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
