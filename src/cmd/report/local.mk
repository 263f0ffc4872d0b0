# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/best.c %D%/cards.c %D%/charts.c %D%/charts.h %D%/compare.c %D%/compare_page.c %D%/counts.c %D%/curves.c %D%/curves.h \
	%D%/curves_draw.c %D%/curves_figures.c %D%/curves_make.c %D%/curves_table.c %D%/effects.c %D%/from.c %D%/functions.c %D%/gather.c %D%/gather_explain.c \
	%D%/heat.c %D%/html.c %D%/html.h %D%/machine.c %D%/machine_choose.c %D%/page.c %D%/page.h %D%/parallel.c %D%/parts.c %D%/pinning.c %D%/progress.c \
	%D%/provenance.c %D%/recommend.c %D%/regions.c %D%/report.h %D%/roof.c %D%/scaling.c %D%/section.c %D%/serial.c %D%/sizes.c \
	%D%/slice.c %D%/slice.h %D%/table.c %D%/table.h %D%/trials.c %D%/weak.c %D%/why.c %D%/words.c

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
