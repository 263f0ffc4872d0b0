# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/ahead.c %D%/counters.c %D%/finals.c %D%/lead.c %D%/nodes.c %D%/parallel.c %D%/parallel.h \
	%D%/recall.c %D%/record.c %D%/work.c
