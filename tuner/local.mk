# SPDX-License-Identifier: GPL-3.0-or-later
TUNER_SPACE = \
	%D%/expr.c %D%/expr.h \
	%D%/expr_parse.c %D%/expr_math.c %D%/expr_code.c %D%/expr_node.h \
	%D%/domain.c %D%/domain.h \
	%D%/space.c %D%/space.h

TUNER_SEARCH = \
	%D%/search.c %D%/search.h

TUNER_MEASURE = \
	%D%/kernel_desc.c %D%/kernel_desc.h \
	%D%/worker.c %D%/worker.h \
	%D%/trial.c %D%/trial.h \
	%D%/race.c %D%/duel.c %D%/contender.c %D%/race.h %D%/contender.h \
	%D%/tune.c %D%/tune_search.c %D%/tune_final.c %D%/tune_result.c %D%/tune.h %D%/tune_state.h

TUNER_STORE = \
	%D%/store.c %D%/store_file.c %D%/store_db.c %D%/store_schema.c \
	%D%/store_write.c %D%/store_read.c %D%/store_resume.c %D%/store.h %D%/store_db.h \
	%D%/profile.c %D%/profile_check.c %D%/profile_env.c %D%/profile.h

noinst_LTLIBRARIES += libtuner.la
libtuner_la_LIBADD = libbase.la $(GSL_LIBS) $(SQLITE_LIBS) $(JANSSON_LIBS)
libtuner_la_SOURCES = $(TUNER_SPACE) $(TUNER_SEARCH) $(TUNER_MEASURE) $(TUNER_STORE)

include %D%/strategy/local.mk
include %D%/model/local.mk
include %D%/export/local.mk
