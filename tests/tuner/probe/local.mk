# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/planted %D%/recorded
slow_tests += %D%/planted
%C%_planted_SOURCES = %D%/planted.c tests/tuner/diagnosis/made.h tests/tuner/diagnosis/mechanisms.h
%C%_planted_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_recorded_SOURCES = %D%/recorded.c tests/tuner/diagnosis/made.h
%C%_recorded_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
TESTS += %D%/recorded
