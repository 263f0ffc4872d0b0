# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/ablation.c %D%/ablation.h %D%/block.c %D%/block_impl.h %D%/deviation.c %D%/deviation.h %D%/duel.c %D%/duel_report.c \
	%D%/race_impl.h %D%/look.c %D%/look.h %D%/numbers.h %D%/race.c %D%/race.h \
	%D%/race_watch.c %D%/regression.c %D%/regression.h %D%/unsafe.c %D%/unsafe.h
