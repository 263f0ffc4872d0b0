# SPDX-License-Identifier: GPL-3.0-or-later
libbase_la_SOURCES += %D%/atom.c %D%/code.c %D%/expr.c %D%/expr.h %D%/math.c \
	%D%/node.h
