# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/columns.c %D%/columns.h %D%/counters.h \
	%D%/counters_table.c %D%/counters_value.c \
 %D%/measured.c %D%/measured.h %D%/results_block.c %D%/results.h \
	%D%/results_effects.c %D%/results_program.c
