# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/check.c %D%/regions_impl.h %D%/debug_libdw.c \
 %D%/regions_plan.c %D%/regions_profile.c \
	%D%/rebuilt.c %D%/regions_record.c %D%/regions.h %D%/runs.c %D%/second.c \
 %D%/total.c %D%/tune.c
