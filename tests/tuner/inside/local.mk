# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/learn %D%/jointly %D%/threads %D%/chooser
%C%_learn_SOURCES = %D%/learn.c
%C%_learn_LDADD = $(TUNER) libsweetspot.a libbase.la $(JANSSON_LIBS) -lm
%C%_jointly_SOURCES = %D%/jointly.c
%C%_jointly_LDADD = $(TUNER) libsweetspot.a libbase.la $(JANSSON_LIBS) -lm
%C%_threads_SOURCES = %D%/threads.c
%C%_threads_CFLAGS = $(AM_CFLAGS) -pthread
%C%_threads_LDADD = $(TUNER) libsweetspot.a libbase.la $(JANSSON_LIBS) -lm
%C%_chooser_SOURCES = %D%/chooser.c
%C%_chooser_CFLAGS = $(AM_CFLAGS) -pthread
# With the archive, it is a program and not the script of libtool.
%C%_chooser_LDADD = libsweetspot.a $(JANSSON_LIBS) -lm
TESTS += %D%/learn %D%/jointly %D%/threads
dist_check_SCRIPTS += %D%/contexts
slow_tests += %D%/contexts
