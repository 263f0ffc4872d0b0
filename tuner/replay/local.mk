# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/replay_space.c %D%/score_axis.c %D%/score_peers.c %D%/score.h %D%/score_impl.h \
	%D%/threads.c %D%/threads.h
