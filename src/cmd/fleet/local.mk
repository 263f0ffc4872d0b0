# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/probe.h %D%/child.c %D%/losses.c \
	%D%/nodes.c %D%/probe.c %D%/run.h %D%/setup.c %D%/state.c %D%/status.c %D%/types.c %D%/setup.h
