# SPDX-License-Identifier: GPL-3.0-or-later

check_PROGRAMS += %D%/domain
%C%_domain_SOURCES = %D%/domain.c
%C%_domain_LDADD = libtuner.la libbase.la
TESTS += %D%/domain

check_PROGRAMS += %D%/space
%C%_space_SOURCES = %D%/space.c %D%/space_help.h
%C%_space_LDADD = libtuner.la libbase.la
TESTS += %D%/space

check_PROGRAMS += %D%/space_figures
%C%_space_figures_SOURCES = %D%/space_figures.c %D%/space_help.h
%C%_space_figures_LDADD = libtuner.la libbase.la
TESTS += %D%/space_figures

check_PROGRAMS += %D%/space_errors
%C%_space_errors_SOURCES = %D%/space_errors.c %D%/space_help.h
%C%_space_errors_LDADD = libtuner.la libbase.la
TESTS += %D%/space_errors

check_PROGRAMS += %D%/space_near
%C%_space_near_SOURCES = %D%/space_near.c %D%/space_help.h
%C%_space_near_LDADD = libtuner.la libbase.la
TESTS += %D%/space_near

check_PROGRAMS += %D%/space_table
%C%_space_table_SOURCES = %D%/space_table.c %D%/space_help.h
%C%_space_table_LDADD = libtuner.la libbase.la
TESTS += %D%/space_table

check_PROGRAMS += %D%/space_json
%C%_space_json_SOURCES = %D%/space_json.c %D%/space_help.h
%C%_space_json_LDADD = libtuner.la libbase.la
TESTS += %D%/space_json
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
check_PROGRAMS += %D%/search
%C%_search_SOURCES = %D%/search.c %D%/search_land.c %D%/search_land.h %D%/search_kernels.c %D%/search_mixed.c \
	%D%/search_play.c %D%/search_play.h %D%/space_help.h
%C%_search_LDADD = libtuner.la libbase.la -lm
TESTS += %D%/search
check_PROGRAMS += %D%/search_guard
%C%_search_guard_SOURCES = %D%/search_guard.c %D%/search_land.c %D%/search_land.h %D%/space_help.h
%C%_search_guard_LDADD = libtuner.la libbase.la
TESTS += %D%/search_guard
check_PROGRAMS += %D%/tune_programs
%C%_tune_programs_SOURCES = %D%/tune_programs.c %D%/space_help.h tests/store/fixture.h
%C%_tune_programs_LDADD = libtuner.la libbase.la -lm
TESTS += %D%/tune_programs
check_PROGRAMS += %D%/effects
%C%_effects_SOURCES = %D%/effects.c
%C%_effects_LDADD = libtuner.la libbase.la -lm
TESTS += %D%/effects
check_PROGRAMS += %D%/tune_effects
%C%_tune_effects_SOURCES = %D%/tune_effects.c
%C%_tune_effects_LDADD = libtuner.la libbase.la -lm
TESTS += %D%/tune_effects

SPEC_TESTS = %D%/spec %D%/spec_values %D%/spec_errors
check_PROGRAMS += $(SPEC_TESTS)
%C%_spec_SOURCES = %D%/spec.c %D%/spec_help.h %D%/spec_texts.h %D%/space_help.h
%C%_spec_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
%C%_spec_values_SOURCES = %D%/spec_values.c
%C%_spec_values_LDADD = libtuner.la libbase.la
%C%_spec_errors_SOURCES = %D%/spec_errors.c %D%/fuzz_spec.c %D%/spec_help.h %D%/spec_texts.h
%C%_spec_errors_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
TESTS += $(SPEC_TESTS)
check_PROGRAMS += %D%/program_words
%C%_program_words_SOURCES = %D%/program_words.c
%C%_program_words_LDADD = libtuner.la libbase.la
TESTS += %D%/program_words
check_PROGRAMS += %D%/program_tree
%C%_program_tree_SOURCES = %D%/program_tree.c
%C%_program_tree_LDADD = libtuner.la libbase.la
TESTS += %D%/program_tree
check_PROGRAMS += %D%/program_runner
%C%_program_runner_SOURCES = %D%/program_runner.c %D%/program_help.h
%C%_program_runner_LDADD = libtuner.la libbase.la
TESTS += %D%/program_runner
check_PROGRAMS += %D%/program_build
%C%_program_build_SOURCES = %D%/program_build.c %D%/program_help.h
%C%_program_build_LDADD = libtuner.la libbase.la
TESTS += %D%/program_build
check_PROGRAMS += %D%/program_lies
%C%_program_lies_SOURCES = %D%/program_lies.c %D%/program_help.h
%C%_program_lies_LDADD = libtuner.la libbase.la
TESTS += %D%/program_lies
EXTRA_DIST += %D%/program-liar

check_PROGRAMS += %D%/unsafe
%C%_unsafe_SOURCES = %D%/unsafe.c
%C%_unsafe_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
TESTS += %D%/unsafe
check_PROGRAMS += %D%/tune_counters
%C%_tune_counters_SOURCES = %D%/tune_counters.c %D%/space_help.h tests/store/fixture.h
%C%_tune_counters_LDADD = libtuner.la libbase.la -lm
TESTS += %D%/tune_counters
