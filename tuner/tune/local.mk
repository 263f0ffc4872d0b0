# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/ahead.c %D%/bench.c %D%/bench_impl.h %D%/budget.c %D%/changes.c %D%/clock.c \
	%D%/counters_phase.c %D%/counting_impl.h %D%/final.c %D%/finals_impl.h %D%/session_memory.c \
	%D%/memory_impl.h %D%/money_impl.h %D%/nodes_impl.h %D%/nodes_record.c \
	%D%/nodes_work.c %D%/parameter_effects.c %D%/recall.c %D%/recall_impl.h %D%/remaining.c \
	%D%/rivals.c %D%/search.c %D%/session_impl.h %D%/session_result.c %D%/sources.c \
	%D%/sources_impl.h %D%/tune.h %D%/tune_run.c
