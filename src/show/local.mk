# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/columns.c %D%/columns.h %D%/counters.h %D%/counters_ask.c %D%/counters_ask.h \
	%D%/counters_sources.c %D%/counters_table.c %D%/counters_value.c %D%/counters_words.c %D%/counters_words.h \
	%D%/figures.c %D%/figures.h %D%/junit.c %D%/junit.h %D%/measured.c %D%/measured.h %D%/results.c %D%/results_block.c %D%/results_busy.c %D%/results.h %D%/results_device.c \
	%D%/results_effects.c %D%/results_program.c %D%/results_regions.c %D%/results_sizes.c

