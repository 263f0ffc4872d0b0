# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/selftest
%C%_selftest_SOURCES = %D%/selftest.c
%C%_selftest_LDADD = libcounters.la libbase.la
TESTS += %D%/selftest
