# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/axis.c %D%/bars.c %D%/chart.c %D%/chart.h %D%/colour.c %D%/colour.h %D%/drawing.c \
	%D%/drawing.h %D%/files.c %D%/fit.c %D%/frame.c %D%/heat.c %D%/intervals.c %D%/legend.c %D%/lines.c \
	%D%/plot.h %D%/scale.c %D%/scale.h %D%/spots.c %D%/svg.c %D%/text.c %D%/text.h %D%/ticks.c \
	%D%/winner.c %D%/write.h
