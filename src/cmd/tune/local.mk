# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/cmd_tune_counters.c %D%/item.h %D%/item_program.c %D%/item_spec.c %D%/cmd_tune_nodes.c \
	%D%/options.c %D%/options.h %D%/session.c %D%/cmd_tune_sizes.c %D%/cmd_tune_watch.c %D%/tune_impl.h
