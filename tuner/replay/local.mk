# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/replay_space.c %D%/replay_impl.h %D%/score_axis.c %D%/score_impl.h %D%/score_peers.c %D%/score.h \
	%D%/threads.c %D%/threads.h
