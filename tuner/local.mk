# SPDX-License-Identifier: GPL-3.0-or-later
TUNER_SPACE = \
	%D%/expr.c %D%/expr.h \
	%D%/domain.c %D%/domain.h \
	%D%/space.c %D%/space.h

TUNER_SEARCH = \
	%D%/search.c %D%/search.h

TUNER_MEASURE = \
	%D%/kernel_desc.c %D%/kernel_desc.h \
	%D%/worker.c %D%/worker.h \
	%D%/trial.c %D%/trial.h \
	%D%/contender.c %D%/contender.h \
	%D%/race.c %D%/duel.c %D%/race.h

TUNER_STORE = \
	%D%/store.c %D%/store.h \
	%D%/profile.c %D%/profile.h

noinst_LTLIBRARIES += libtuner.la
libtuner_la_LIBADD = libbase.la $(GSL_LIBS) $(SQLITE_LIBS) $(JANSSON_LIBS)
libtuner_la_SOURCES = $(TUNER_SPACE) $(TUNER_SEARCH) $(TUNER_MEASURE) $(TUNER_STORE)

include %D%/strategy/local.mk
include %D%/model/local.mk
include %D%/export/local.mk
