# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/check.c %D%/debug_impl.h \
 %D%/tune.h %D%/explore.c %D%/fit.c %D%/fit_impl.h %D%/regions_names.c %D%/regions_names_impl.h %D%/runs_impl.h %D%/output_impl.h %D%/output_lines.c %D%/output_words.c %D%/explore_impl.h %D%/regions_profile.c %D%/second_impl.h \
	%D%/rebuilt.c %D%/rebuilt.h %D%/regions_record.c %D%/regions_record_impl.h %D%/record_impl.h %D%/regions.h %D%/runs.c %D%/impl.h %D%/search_impl.h %D%/second.c %D%/regions_sizes.c %D%/regions_sizes_impl.h %D%/symbols_impl.h \
 %D%/regions_table.c %D%/regions_table_impl.h %D%/check_impl.h %D%/tune.c
