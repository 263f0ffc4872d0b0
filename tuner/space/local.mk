# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/diagram.c %D%/space_impl.h %D%/domain.c %D%/domain.h \
	%D%/impl.h %D%/space_index.c %D%/space_near.c %D%/nearest.c \
	%D%/nearest.h %D%/order.c %D%/part.c %D%/index_impl.h %D%/space_read.c %D%/space_near.h \
 %D%/rewrite.c %D%/space.c \
	%D%/space.h
