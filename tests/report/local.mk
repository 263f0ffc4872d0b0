# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/chart %D%/chart_values
TESTS += %D%/chart %D%/chart_values
%C%_chart_SOURCES = %D%/chart.c %D%/chart_check.h $(CHARTS)
%C%_chart_LDADD = libbase.la -lm
%C%_chart_values_SOURCES = %D%/chart_values.c %D%/chart_check.h $(CHARTS)
%C%_chart_values_LDADD = libbase.la -lm
