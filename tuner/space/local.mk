# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/bind.c %D%/build.c %D%/diagram.c %D%/diagram.h %D%/domain.c %D%/domain.h \
	%D%/impl.h %D%/index.c %D%/intern.c %D%/intern.h %D%/json.c %D%/keys.c %D%/keys.h %D%/near.c %D%/nearest.c \
	%D%/nearest.h %D%/order.c %D%/order.h %D%/part.c %D%/part.h %D%/read.c %D%/repair.c %D%/repair.h \
	%D%/repairs.c %D%/rewrite.c %D%/rows.c %D%/slice.c %D%/slice.h %D%/source.c %D%/source.h %D%/space.c \
	%D%/space.h %D%/table.c %D%/table.h %D%/tree.c %D%/tree.h %D%/walk.c %D%/walk.h
