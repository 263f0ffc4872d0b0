# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/chart %D%/chart_values %D%/chart_places
TESTS += %D%/chart_values %D%/chart_places
slow_tests += %D%/chart
%C%_chart_SOURCES = %D%/chart.c %D%/chart_check.h %D%/svg_reader.h
%C%_chart_LDADD = libapp.la libbase.la -lm
%C%_chart_values_SOURCES = %D%/chart_values.c %D%/chart_check.h %D%/svg_reader.h
%C%_chart_values_LDADD = libapp.la libbase.la -lm
%C%_chart_places_SOURCES = %D%/chart_places.c %D%/chart_check.h %D%/svg_reader.h
%C%_chart_places_LDADD = libapp.la libbase.la -lm
dist_check_SCRIPTS += %D%/page %D%/large %D%/machine %D%/compare %D%/browser
slow_tests += %D%/page %D%/large %D%/machine %D%/compare %D%/browser
EXTRA_DIST += %D%/page.sh %D%/page_check.py %D%/browser_check.py
# Preloaded by large.
check_LTLIBRARIES += %D%/killshim.la
%C%_killshim_la_SOURCES = %D%/killshim.c
%C%_killshim_la_LDFLAGS = -module -avoid-version -rpath $(abs_builddir)/%D%
check_PROGRAMS += %D%/html
TESTS += %D%/html
%C%_html_SOURCES = %D%/html.c
%C%_html_LDADD = $(APP) -lm
