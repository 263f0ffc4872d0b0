# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/search %D%/bound %D%/honest %D%/large %D%/guard %D%/batch %D%/ahead %D%/leaders %D%/cold
TESTS += %D%/bound %D%/honest %D%/guard %D%/ahead %D%/leaders %D%/cold
slow_tests += %D%/search %D%/large %D%/batch
%C%_search_SOURCES = %D%/search.c %D%/land.c %D%/land.h %D%/kernels.c %D%/mixed.c %D%/play.c %D%/play.h \
	tests/tuner/space/help.h
%C%_search_LDADD = $(TUNER) libbase.la -lm
%C%_bound_SOURCES = %D%/bound.c %D%/land.c %D%/land.h tests/tuner/space/help.h
%C%_bound_LDADD = $(TUNER) libbase.la -lm
%C%_honest_SOURCES = %D%/honest.c %D%/land.c %D%/land.h tests/tuner/space/help.h
%C%_honest_LDADD = $(TUNER) libbase.la -lm
%C%_large_SOURCES = %D%/large.c tests/tuner/space/help.h
%C%_large_LDADD = $(TUNER) libbase.la -lm
%C%_guard_SOURCES = %D%/guard.c %D%/land.c %D%/land.h tests/tuner/space/help.h
%C%_guard_LDADD = $(TUNER) libbase.la
%C%_batch_SOURCES = %D%/batch.c %D%/land.c %D%/kernels.c %D%/mixed.c %D%/land.h tests/tuner/space/help.h
%C%_batch_LDADD = $(TUNER) libbase.la -lm
%C%_ahead_SOURCES = %D%/ahead.c %D%/land.c %D%/land.h tests/tuner/space/help.h
%C%_ahead_LDADD = $(TUNER) libbase.la -lm
%C%_leaders_SOURCES = %D%/leaders.c
%C%_leaders_LDADD = $(TUNER) libbase.la -lm
%C%_cold_SOURCES = %D%/cold.c %D%/land.c %D%/land.h tests/tuner/space/help.h
%C%_cold_LDADD = $(TUNER) libbase.la -lm
