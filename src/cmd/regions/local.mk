# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/apply.c %D%/command.h %D%/explain.c %D%/file.c %D%/file.h %D%/regions.h %D%/show.c %D%/show.h %D%/target.c %D%/target.h \
	%D%/suits.c
