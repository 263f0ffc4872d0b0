# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/ask.c %D%/ask.h %D%/child.c %D%/duel.c %D%/line.c %D%/losses.c %D%/machine.c \
	%D%/nodes.c %D%/plan.c %D%/probe.c %D%/run.h %D%/setup.c %D%/show.c %D%/state.c %D%/status.c %D%/types.c %D%/launcher.c %D%/launcher.h
