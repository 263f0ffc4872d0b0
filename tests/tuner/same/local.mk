# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/judge
%C%_judge_SOURCES = %D%/judge.c
%C%_judge_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
dist_check_SCRIPTS += %D%/honest %D%/cheats
slow_tests += %D%/honest %D%/cheats
EXTRA_DIST += %D%/judged.sh
