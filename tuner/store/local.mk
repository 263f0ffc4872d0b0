# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/store.h %D%/store_db.c %D%/store_impl.h %D%/store_merge.c %D%/store_open.c \
	%D%/store_read.c %D%/store_share.c %D%/store_write.c
