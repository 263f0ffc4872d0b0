# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/best.c %D%/cards.c %D%/charts.c %D%/charts.h %D%/compare.c %D%/compare_page.c %D%/counts.c %D%/curves.c %D%/curves.h \
	%D%/curves_draw.c %D%/curves_table.c %D%/effects.c %D%/from.c %D%/gather.c %D%/gather_explain.c \
	%D%/heat.c %D%/html.c %D%/html.h %D%/machine.c %D%/parts.c %D%/progress.c \
 %D%/recommend.c %D%/report.h %D%/roof.c %D%/scaling.c %D%/section.c %D%/serial.c \
 %D%/curves_table.h %D%/table.c %D%/table.h %D%/why.c %D%/words.c

# Style and script of the report as strings.
nodist_libapp_la_SOURCES = %D%/page_css.inc %D%/page_js.inc
BUILT_SOURCES += %D%/page_css.inc %D%/page_js.inc
CLEANFILES += %D%/page_css.inc %D%/page_js.inc
EXTRA_DIST += %D%/page.css %D%/page.js
%D%/page_css.inc: %D%/page.css
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' $(srcdir)/%D%/page.css >$@
%D%/page_js.inc: %D%/page.js
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' $(srcdir)/%D%/page.js >$@

include %D%/chart/local.mk
