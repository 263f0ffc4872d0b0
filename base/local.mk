# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = %D%/csv.c %D%/csv.h %D%/err.c %D%/err.h %D%/hash.c %D%/hash.h %D%/html_tables.c %D%/html_tables.h %D%/mem.c %D%/mem.h %D%/opt.c %D%/opt.h \
 %D%/rights.c %D%/rights.h %D%/rng.c %D%/rng.h %D%/stats.c %D%/stats.h %D%/stop.c %D%/stop.h \
	%D%/sys.c %D%/sys.h %D%/text.c %D%/text.h %D%/tree.c %D%/tree.h %D%/value.c %D%/value.h
libbase_la_CPPFLAGS = $(AM_CPPFLAGS) -DSS_PKGDATADIR='"$(pkgdatadir)"' -DSS_SYSCONFDIR='"$(sysconfdir)"'
libbase_la_LIBADD = $(JANSSON_LIBS) -lm
include %D%/expr/local.mk
include %D%/proc/local.mk
include %D%/json/local.mk
include %D%/t1/local.mk
