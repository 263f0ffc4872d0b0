# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/replay.c %D%/replay.h %D%/score.c %D%/score.h %D%/score_axis.c %D%/score_impl.h \
	%D%/score_peers.c %D%/score_peers.h %D%/score_table.c %D%/source.c %D%/source.h %D%/threads.c %D%/threads.h
