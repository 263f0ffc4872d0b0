# SPDX-License-Identifier: GPL-3.0-or-later
regions_tests = %D%/environment %D%/fit %D%/known %D%/plan %D%/record
check_PROGRAMS += $(regions_tests)
TESTS += $(regions_tests)
%C%_environment_SOURCES = %D%/environment.c
%C%_environment_LDADD = libtuner.la libbase.la -lm
%C%_fit_SOURCES = %D%/fit.c %D%/made.h
%C%_fit_LDADD = libtuner.la libbase.la -lm
%C%_known_SOURCES = %D%/known.c %D%/simulated.c %D%/simulated.h %D%/made.h lib/omp/region.c lib/omp/table.c
%C%_known_LDADD = libtuner.la libbase.la -lm
%C%_plan_SOURCES = %D%/plan.c %D%/made.h
%C%_plan_LDADD = libtuner.la libbase.la -lm
%C%_record_SOURCES = %D%/record.c %D%/made.h
%C%_record_LDADD = libtuner.la libbase.la -lm
