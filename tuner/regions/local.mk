# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/check.c %D%/debug_impl.h %D%/debug_addr2line.c %D%/debug_libdw.c \
 %D%/tune.h %D%/fit_impl.h %D%/regions_limits_impl.h %D%/regions_names_impl.h %D%/regions_plan.c %D%/regions_plan_impl.h %D%/regions_profile.c %D%/prove_impl.h \
	%D%/rebuilt.c %D%/rebuilt.h %D%/regions_record.c %D%/regions_record_impl.h %D%/record_impl.h %D%/regions.h %D%/runs.c %D%/impl.h %D%/search_impl.h %D%/second.c %D%/regions_settings.c %D%/regions_sizes.c %D%/regions_sizes_impl.h %D%/regions_code.c %D%/symbols_impl.h \
 %D%/regions_table.c %D%/regions_table_impl.h %D%/total.c %D%/total_impl.h %D%/tune.c
