# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/results_program %D%/results_counters
TESTS += %D%/results_program %D%/results_counters
%C%_results_program_SOURCES = %D%/results_program.c src/show/results.c src/show/results_block.c src/show/results_busy.c src/show/results_seconds.c src/show/results_program.c \
	src/show/results_effects.c src/show/results_pareto.c src/show/results_usage.c src/show/results_device.c \
	src/show/results_counters.c src/show/results_regions.c src/show/counters_value.c src/show/counters_table.c \
	src/show/counters_reason.c src/ui/fold.c src/ui/ui.c src/ui/text.c src/ui/table.c src/ui/wrap.c
%C%_results_program_LDADD = $(TUNER) libbase.la -lm
%C%_results_counters_SOURCES = %D%/results_counters.c src/show/results_counters.c src/show/results_regions.c \
	src/show/counters_value.c src/show/counters_table.c src/show/counters_reason.c src/ui/fold.c src/ui/ui.c src/ui/text.c src/ui/table.c \
	src/ui/wrap.c
%C%_results_counters_LDADD = $(TUNER) libbase.la -lm
