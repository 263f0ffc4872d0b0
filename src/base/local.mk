# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = \
	%D%/err.c %D%/err.h \
	%D%/mem.c %D%/mem.h \
	%D%/hash.c %D%/hash.h \
	%D%/rng.c %D%/rng.h \
	%D%/stats.c %D%/stats.h \
	%D%/sha256.c %D%/sha256.h \
	%D%/near.c %D%/near.h \
	%D%/pattern.c %D%/pattern.h \
	%D%/js.c %D%/js_write.c %D%/js.h \
	%D%/opt.c %D%/opt_help.c %D%/opt_value.c %D%/opt.h \
	%D%/proc.c %D%/proc.h \
	%D%/proc_buffer.c %D%/proc_buffer.h \
	%D%/proc_env.c \
	%D%/proc_pipe.c %D%/proc_pipe.h \
	%D%/proc_spawn.c %D%/proc_spawn.h \
	%D%/reap.c %D%/reap.h \
	%D%/text.c %D%/text.h \
	%D%/tree.c %D%/tree.h \
	%D%/sys.c %D%/sys_memory.c %D%/sys_share.c %D%/sys_write.c %D%/sys.h \
	%D%/expr.c %D%/expr_parse.c %D%/expr_parser.h %D%/expr_atom.c %D%/expr_member.c \
	%D%/expr_math.c %D%/expr_bits.c %D%/expr_code.c %D%/expr.h %D%/expr_node.h \
	%D%/value.c %D%/value.h
libbase_la_CPPFLAGS = $(AM_CPPFLAGS) -DSS_PKGDATADIR='"$(pkgdatadir)"' -DSS_SYSCONFDIR='"$(sysconfdir)"'
libbase_la_LIBADD = $(JANSSON_LIBS) -lm
