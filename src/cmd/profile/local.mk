# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/diff.c %D%/input.c %D%/input.h %D%/select.c %D%/standing.c \
	%D%/text.c %D%/text.h %D%/verb.h %D%/verify.c %D%/verify.h \
	%D%/verify_program.c
