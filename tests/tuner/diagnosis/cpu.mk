# SPDX-License-Identifier: GPL-3.0-or-later
DIAGNOSIS_CPU_TESTS = %D%/cpu %D%/shuffled %D%/measured %D%/lone
check_PROGRAMS += $(DIAGNOSIS_CPU_TESTS)
%C%_cpu_SOURCES = %D%/cpu.c %D%/alone.h %D%/made.h %D%/mechanisms.h
%C%_cpu_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_shuffled_SOURCES = %D%/shuffled.c %D%/made.h %D%/mechanisms.h
%C%_shuffled_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_measured_SOURCES = %D%/measured.c %D%/made.h
%C%_measured_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_lone_SOURCES = %D%/lone.c %D%/made.h
%C%_lone_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
TESTS += %D%/measured %D%/lone
slow_tests += %D%/cpu %D%/shuffled
