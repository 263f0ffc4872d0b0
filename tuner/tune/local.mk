# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/ahead.c %D%/bench.c %D%/bench_impl.h %D%/budget.c %D%/changes.c \
	%D%/counters_phase.c %D%/final.c %D%/session_memory.c \
 %D%/nodes_impl.h %D%/nodes_record.c \
	%D%/nodes_work.c %D%/tune_impl.h %D%/remaining.c \
	%D%/rivals.c %D%/search.c %D%/session_result.c %D%/sources.c \
 %D%/tune.h %D%/tune_run.c
