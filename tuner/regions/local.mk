# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/check.c %D%/regions_impl.h %D%/debug_addr2line.c %D%/debug_libdw.c \
 %D%/tune.h %D%/regions_plan.c %D%/regions_profile.c \
	%D%/rebuilt.c %D%/rebuilt.h %D%/regions_record.c %D%/regions_record_impl.h %D%/regions.h %D%/runs.c %D%/second.c %D%/regions_settings.c %D%/regions_sizes.c %D%/regions_code.c \
 %D%/regions_table.c %D%/total.c %D%/tune.c
