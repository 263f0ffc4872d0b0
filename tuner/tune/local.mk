# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/ahead.c %D%/begin.c %D%/budget.c %D%/clock.c %D%/counted.c %D%/counters.c %D%/counting.h %D%/effects.c \
	%D%/final.c %D%/gain.c %D%/left.c %D%/measure.c %D%/opponent.c %D%/pareto.c %D%/promise.c %D%/recall.c %D%/recall.h %D%/report.c %D%/result.c %D%/search.c \
	%D%/simplify.c %D%/source.c %D%/source.h %D%/sources.c %D%/sources.h %D%/state.h %D%/tune.c %D%/tune.h %D%/wrong.c
include %D%/parallel/local.mk
