# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/builds.c %D%/builds.h %D%/counters.c %D%/counters.h %D%/item.h \
	%D%/item_kernel.c %D%/item_program.c %D%/item_spec.c %D%/nodes.c %D%/nodes.h \
	%D%/options.c %D%/options.h %D%/session.c %D%/session.h %D%/session_impl.h %D%/sizes.c %D%/sizes.h \
	%D%/sizes_read.c %D%/stop_when.c %D%/stop_when.h %D%/trials.c %D%/trials.h %D%/watch.c %D%/watch.h
