# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/cmd_regions_apply.c %D%/regions_impl.h %D%/regions.h %D%/show.c \
	%D%/target.c
