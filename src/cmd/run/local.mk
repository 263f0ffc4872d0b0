# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/compare_program.c %D%/compare_program_impl.h %D%/compare_show.c %D%/compare_show_impl.h %D%/run_manual.c %D%/run_manual_impl.h \
	%D%/manual_counters.c %D%/manual_store.c %D%/manual_store_impl.h \
	%D%/sweep_impl.h %D%/sweep_axes.c %D%/sweep_csv_impl.h %D%/sweep_plan.c %D%/sweep_plan_impl.h %D%/sweep_program.c %D%/sweep_program_impl.h %D%/sweep_table.c %D%/sweep_table_impl.h
