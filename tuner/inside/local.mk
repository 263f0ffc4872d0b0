# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/inside.h %D%/inside_impl.h %D%/inside_store.c %D%/inside_tune.c \
	%D%/propose.c %D%/subject.c
