# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/busy
TESTS += %D%/busy
%C%_busy_SOURCES = %D%/busy.c
%C%_busy_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS) -lm
