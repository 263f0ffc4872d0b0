# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/compare_program.c %D%/compare_program.h %D%/compare_show.c %D%/compare_show.h %D%/manual.c %D%/manual.h \
	%D%/manual_counters.c %D%/manual_store.c %D%/manual_store.h \
	%D%/sweep.h %D%/sweep_axes.c %D%/sweep_csv.c %D%/sweep_csv.h %D%/sweep_plan.c %D%/sweep_plan.h %D%/sweep_program.c %D%/sweep_program.h %D%/sweep_table.c %D%/sweep_table.h
