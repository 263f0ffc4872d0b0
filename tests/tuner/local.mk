# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/expr
%C%_expr_SOURCES = %D%/expr.c
%C%_expr_LDADD = libtuner.la libbase.la
TESTS += %D%/expr

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
