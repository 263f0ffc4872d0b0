# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/check.c %D%/debug.h %D%/debug_addr2line.c %D%/debug_libdw.c \
	%D%/document.c %D%/regions_environment.c %D%/regions_environment.h %D%/explore.c %D%/fit.c %D%/fit.h %D%/regions_limits.c %D%/regions_limits.h %D%/regions_names.c %D%/regions_names.h %D%/output.c %D%/output.h %D%/output_impl.h %D%/output_lines.c %D%/output_words.c %D%/regions_plan.c %D%/regions_plan.h %D%/regions_profile.c %D%/prove.c %D%/prove.h \
	%D%/rebuilt.c %D%/rebuilt.h %D%/regions_record.c %D%/regions_record.h %D%/record_impl.h %D%/regions.h %D%/runs.c %D%/impl.h %D%/search_impl.h %D%/second.c %D%/regions_settings.c %D%/regions_sizes.c %D%/regions_sizes.h %D%/regions_code.c %D%/symbols_impl.h %D%/symbols.c \
	%D%/symbols.h %D%/regions_table.c %D%/regions_table.h %D%/total.c %D%/total.h %D%/tune.c
