# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/chart_series.c %D%/chart.c %D%/chart.h %D%/chart_impl.h \
	%D%/scale.c %D%/svg.c
