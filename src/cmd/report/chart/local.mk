# SPDX-License-Identifier: GPL-3.0-or-later
CHART_SOURCES = %D%/axis.c %D%/chart.c %D%/chart.h %D%/colour.c %D%/css.c %D%/frame.c %D%/gnuplot.c \
	%D%/heat.c %D%/impl.h %D%/layout.c %D%/legend.c %D%/script.c %D%/series.c %D%/svg.c %D%/svg.h \
	%D%/svg_path.c %D%/svg_read.c %D%/text.c
sweetspot_SOURCES += $(CHART_SOURCES)
