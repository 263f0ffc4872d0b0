# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/effects.c %D%/explain.h \
	%D%/explain_load.c %D%/explain_path.c %D%/explain_sizes.c %D%/explain_table.c %D%/result.c %D%/scaling.c \
	%D%/explain_table_impl.h %D%/explain_text.c %D%/explain_text.h %D%/text_effects.c %D%/text_scaling.c
