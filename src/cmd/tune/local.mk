# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/item.h %D%/item_program.c %D%/item_kernel.c %D%/cmd_tune_nodes.c \
	%D%/options.c %D%/options.h %D%/tuning.c %D%/cmd_tune_sizes.c %D%/tune_session.c %D%/tune_impl.h
