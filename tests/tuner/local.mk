# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/paired
%C%_paired_SOURCES = %D%/paired.c
%C%_paired_LDADD = libtuner.la libbase.la
TESTS += %D%/paired
check_PROGRAMS += %D%/duel
%C%_duel_SOURCES = %D%/duel.c %D%/noise.h
%C%_duel_LDADD = libtuner.la libbase.la
TESTS += %D%/duel
check_PROGRAMS += %D%/race
%C%_race_SOURCES = %D%/race.c %D%/noise.h
%C%_race_LDADD = libtuner.la libbase.la
TESTS += %D%/race
