# SPDX-License-Identifier: GPL-3.0-or-later
libbase_la_SOURCES += %D%/atom.c %D%/bits.c %D%/code.c %D%/expr.c %D%/expr.h %D%/math.c %D%/member.c \
	%D%/node.h %D%/parse.c %D%/parser.h
