# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/ablation.c %D%/block.c %D%/deviation.c %D%/deviation.h %D%/duel.c \
	%D%/race_impl.h %D%/look.c %D%/look.h %D%/numbers.h %D%/race.c %D%/race.h %D%/rows.c \
 %D%/unsafe.c %D%/unsafe.h
