# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/drivers.c %D%/effects.c %D%/explain.h %D%/landscape.c \
	%D%/load.c %D%/path.c %D%/probe.c %D%/probe.h %D%/result.c \
	%D%/roofline.c %D%/roofline.h %D%/scaling.c %D%/scaling.h %D%/series.c %D%/sizes.c %D%/table.c \
	%D%/table.h %D%/text.c %D%/text.h %D%/text_effects.c %D%/text_path.c %D%/text_position.c %D%/text_scaling.c \
	%D%/text_table.c %D%/view.c
