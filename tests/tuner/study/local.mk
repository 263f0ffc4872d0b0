# SPDX-License-Identifier: GPL-3.0-or-later
STUDY_TESTS = %D%/study
check_PROGRAMS += $(STUDY_TESTS)
%C%_study_SOURCES = %D%/study.c
%C%_study_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
TESTS += $(STUDY_TESTS)
