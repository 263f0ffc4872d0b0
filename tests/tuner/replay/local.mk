# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/replay %D%/score
TESTS += %D%/replay %D%/score
%C%_replay_SOURCES = %D%/replay.c %D%/record_made.h
%C%_replay_LDADD = $(TUNER) libbase.la -lm
%C%_score_SOURCES = %D%/score.c %D%/record_made.h
%C%_score_LDADD = $(TUNER) libbase.la -lm
