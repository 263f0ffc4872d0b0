# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/check.c %D%/counted.c %D%/diff.c %D%/diff.h %D%/entry.c %D%/folder.c %D%/folder.h \
	%D%/link.c %D%/merge.c %D%/merge.h %D%/profile.c %D%/profile.h %D%/program.c %D%/program.h \
	%D%/select.c %D%/select.h %D%/select_words.c %D%/sizes.c %D%/sizes.h %D%/state.c \
	%D%/state.h %D%/use.c %D%/use.h
