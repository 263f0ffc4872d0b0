# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += %D%/json.sh
check_PROGRAMS += %D%/results_program
%C%_results_program_SOURCES = %D%/results_program.c src/results.c src/results_program.c src/results_effects.c \
	src/results_usage.c src/ui.c src/ui_table.c
%C%_results_program_LDADD = libtuner.la libbase.la -lm
TESTS += %D%/results_program
dist_check_SCRIPTS += %D%/usage %D%/handwork %D%/tune %D%/survive %D%/apply
