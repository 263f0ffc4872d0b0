# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/results_program %D%/results_counters
TESTS += %D%/results_program %D%/results_counters
%C%_results_program_SOURCES = %D%/results_program.c
%C%_results_program_LDADD = $(APP) -lm
%C%_results_counters_SOURCES = %D%/results_counters.c
%C%_results_counters_LDADD = $(APP) -lm
