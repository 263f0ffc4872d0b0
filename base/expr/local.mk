# SPDX-License-Identifier: GPL-3.0-or-later
libbase_la_SOURCES += %D%/code.c %D%/expr.c %D%/expr.h %D%/expr_parse.c %D%/math.c \
	%D%/node.h
