# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/diagram.c %D%/space_impl.h %D%/domain.c \
 %D%/space_index.c %D%/space_near.c \
 %D%/part.c %D%/space_read.c \
 %D%/rewrite.c %D%/space.c \
	%D%/space.h
