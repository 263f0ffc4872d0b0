# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/coding %D%/surrogate %D%/sources %D%/cost %D%/limits %D%/opening %D%/front
TESTS += %D%/coding %D%/sources %D%/cost %D%/opening
slow_tests += %D%/limits %D%/surrogate %D%/front
%C%_coding_SOURCES = %D%/coding.c tests/tuner/space/help.h
%C%_coding_LDADD = $(TUNER) libbase.la -lm
%C%_surrogate_SOURCES = %D%/surrogate.c %D%/watched.c %D%/watched.h tests/tuner/search/land.c tests/tuner/search/land.h \
	tests/tuner/space/help.h
%C%_surrogate_LDADD = $(TUNER) libbase.la $(GSL_LIBS) -lm
%C%_sources_SOURCES = %D%/sources.c %D%/watched.c %D%/watched.h tests/tuner/search/land.c tests/tuner/search/land.h \
	tests/tuner/space/help.h
%C%_sources_LDADD = $(TUNER) libbase.la $(GSL_LIBS) -lm
%C%_cost_SOURCES = %D%/cost.c tests/tuner/search/land.c tests/tuner/search/land.h tests/tuner/space/help.h
%C%_cost_LDADD = $(TUNER) libbase.la -lm
%C%_limits_SOURCES = %D%/limits.c %D%/watched.c %D%/watched.h tests/tuner/search/land.c tests/tuner/search/land.h \
	tests/tuner/space/help.h
%C%_limits_LDADD = $(TUNER) libbase.la $(GSL_LIBS) -lm
%C%_opening_SOURCES = %D%/opening.c tests/tuner/search/kernels.c tests/tuner/search/land.c tests/tuner/search/land.h \
	tests/tuner/space/help.h
%C%_opening_LDADD = $(TUNER) libbase.la -lm
%C%_front_SOURCES = %D%/front.c tests/tuner/space/help.h
%C%_front_LDADD = $(TUNER) libbase.la -lm
