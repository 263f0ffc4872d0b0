# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/result
TESTS += %D%/result
%C%_result_SOURCES = %D%/result.c
%C%_result_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
