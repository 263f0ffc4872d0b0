# SPDX-License-Identifier: GPL-3.0-or-later
READING_TESTS = %D%/noise %D%/effects %D%/subjects
check_PROGRAMS += $(READING_TESTS)
%C%_noise_SOURCES = %D%/noise.c tests/tuner/diagnosis/made.h
%C%_noise_LDADD = $(TUNER) libbase.la $(GSL_LIBS) -lm
%C%_effects_SOURCES = %D%/effects.c tests/tuner/diagnosis/made.h
%C%_effects_LDADD = $(TUNER) libbase.la $(GSL_LIBS) -lm
%C%_subjects_SOURCES = %D%/subjects.c tests/tuner/diagnosis/made.h
%C%_subjects_LDADD = $(TUNER) libbase.la $(GSL_LIBS) -lm
TESTS += %D%/effects %D%/subjects
slow_tests += %D%/noise
