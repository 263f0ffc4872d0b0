# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/coding.c %D%/chance.c %D%/first.c %D%/front.c %D%/surrogate_impl.h %D%/surrogate_source.c \
	%D%/surrogate.c %D%/surrogate.h
