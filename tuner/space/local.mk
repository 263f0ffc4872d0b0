# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/diagram.c %D%/diagram.h %D%/domain.c %D%/domain.h \
	%D%/impl.h %D%/index.c %D%/intern.c %D%/intern.h %D%/json.c %D%/near.c %D%/nearest.c \
	%D%/nearest.h %D%/order.c %D%/order.h %D%/part.c %D%/part.h %D%/read.c %D%/near.h \
 %D%/rewrite.c %D%/space.c \
	%D%/space.h %D%/index.h %D%/rewrite.h
