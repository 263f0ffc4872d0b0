# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = %D%/csv.c %D%/csv.h %D%/demangle.c %D%/demangle.h %D%/err.c %D%/err.h %D%/file_hash.c %D%/file_hash.h %D%/hash.c %D%/hash.h %D%/mem.c %D%/mem.h %D%/near.c %D%/near.h \
	%D%/opt.c %D%/opt.h %D%/range.h %D%/opt_help.c %D%/opt_value.c %D%/pattern.c %D%/pattern.h %D%/quiet.c %D%/quiet.h %D%/rights.c %D%/rights.h %D%/rng.c %D%/rng.h %D%/scratch.c %D%/scratch.h \
	%D%/sha256.c %D%/sha256.h %D%/stats.c %D%/stats.h %D%/stop.c %D%/stop.h %D%/sys.c %D%/sys.h %D%/sys_memory.c %D%/sys_share.c \
	%D%/sys_write.c %D%/text.c %D%/text.h %D%/tree.c %D%/tree.h %D%/value.c %D%/value.h
libbase_la_CPPFLAGS = $(AM_CPPFLAGS) -DSS_PKGDATADIR='"$(pkgdatadir)"' -DSS_SYSCONFDIR='"$(sysconfdir)"'
libbase_la_LIBADD = $(JANSSON_LIBS) -lm
include %D%/expr/local.mk
include %D%/proc/local.mk
include %D%/json/local.mk
include %D%/t1/local.mk
