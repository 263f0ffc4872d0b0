# SPDX-License-Identifier: GPL-3.0-or-later
regions_tests = %D%/environment %D%/fit %D%/known %D%/plan %D%/prove %D%/record
check_PROGRAMS += $(regions_tests)
TESTS += $(regions_tests)
%C%_environment_SOURCES = %D%/environment.c
%C%_environment_LDADD = $(TUNER) libbase.la -lm
%C%_fit_SOURCES = %D%/fit.c %D%/made.h
%C%_fit_LDADD = $(TUNER) libbase.la -lm
%C%_known_SOURCES = %D%/known.c %D%/simulated.c %D%/simulated.h %D%/made.h lib/omp/region.c lib/omp/omp_sizes.c lib/omp/settings.c
%C%_known_LDADD = $(TUNER) libbase.la -lm
# Its own functions stand for those of lib/omp.
%C%_known_LDFLAGS = -Wl,--allow-multiple-definition
%C%_plan_SOURCES = %D%/plan.c %D%/made.h
%C%_plan_LDADD = $(TUNER) libbase.la -lm
%C%_prove_SOURCES = %D%/prove.c
# Its own runs stand for those of tuner/regions/runs.c.
%C%_prove_LDFLAGS = -Wl,--allow-multiple-definition
%C%_prove_LDADD = $(TUNER) libbase.la -lm
%C%_record_SOURCES = %D%/record.c %D%/made.h
%C%_record_LDADD = $(TUNER) libbase.la -lm
check_PROGRAMS += %D%/hostile
TESTS += %D%/hostile
%C%_hostile_SOURCES = %D%/hostile.c %D%/made.h
%C%_hostile_LDADD = $(TUNER) libbase.la -lm
EXTRA_DIST += %D%/seeds
fuzz_targets += %D%/fuzz_record
%C%_fuzz_record_SOURCES = %D%/fuzz_record.c %D%/made.h
%C%_fuzz_record_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_record_LDADD = $(%C%_record_LDADD)
fuzz_targets += %D%/fuzz_symbols
%C%_fuzz_symbols_SOURCES = %D%/fuzz_symbols.c
%C%_fuzz_symbols_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_symbols_LDADD = $(%C%_record_LDADD)
