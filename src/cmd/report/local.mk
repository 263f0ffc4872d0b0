# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/first_screen.c %D%/commands.c %D%/compare_page.c %D%/report_counts.c %D%/curves.c \
	%D%/slices.c %D%/report_effects.c %D%/gather.c %D%/gather_explain.c \
	%D%/html.c %D%/html.h %D%/progress.c \
	%D%/report_impl.h %D%/report_scaling.c %D%/section.c

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
