# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/coding.c %D%/coding.h %D%/batch.c %D%/chance.c %D%/cost.c %D%/cost.h %D%/describe.c %D%/first.c %D%/impl.h \
	%D%/lengths.c %D%/limits.c %D%/limits.h %D%/models.c %D%/opening.c %D%/opening.h %D%/pool.c %D%/source.c %D%/surrogate.c %D%/surrogate.h \
	%D%/target.c
