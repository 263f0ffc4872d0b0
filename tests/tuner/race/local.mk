# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/ablation %D%/duel %D%/duel_rates %D%/race %D%/unsafe %D%/watch
TESTS += %D%/ablation %D%/duel %D%/duel_rates %D%/race %D%/unsafe %D%/watch
%C%_duel_SOURCES = %D%/duel.c %D%/duel.h %D%/noise.h
%C%_duel_LDADD = $(TUNER) libbase.la
%C%_duel_rates_SOURCES = %D%/duel_rates.c %D%/duel.h %D%/noise.h
%C%_duel_rates_LDADD = $(TUNER) libbase.la
%C%_race_SOURCES = %D%/race.c %D%/noise.h
%C%_race_LDADD = $(TUNER) libbase.la
%C%_unsafe_SOURCES = %D%/unsafe.c
%C%_unsafe_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
%C%_watch_SOURCES = %D%/watch.c %D%/noise.h
%C%_watch_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS) -lm
%C%_ablation_SOURCES = %D%/ablation.c %D%/noise.h
%C%_ablation_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS) -lm
