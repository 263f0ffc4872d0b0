# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/diff.c %D%/input.c %D%/input.h %D%/merge.c %D%/select.c %D%/show.c %D%/standing.c \
	%D%/text.c %D%/text.h %D%/verb.h %D%/verify.c %D%/verify.h %D%/verify_ci.c %D%/verify_describe.c %D%/verify_duel.c \
	%D%/verify_program.c
