# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/check.c %D%/debug.h %D%/debug_addr2line.c %D%/debug_libdw.c \
	%D%/document.c %D%/environment.c %D%/environment.h %D%/explore.c %D%/fit.c %D%/fit.h %D%/limits.c %D%/limits.h %D%/names.c %D%/names.h %D%/output.c %D%/output.h %D%/output_impl.h %D%/output_lines.c %D%/output_words.c %D%/plan.c %D%/plan.h %D%/profile.c %D%/prove.c %D%/prove.h \
	%D%/rebuilt.c %D%/rebuilt.h %D%/record.c %D%/record.h %D%/record_impl.h %D%/regions.h %D%/runs.c %D%/impl.h %D%/search_impl.h %D%/second.c %D%/settings.c %D%/sizes.c %D%/sizes.h %D%/code.c %D%/symbols_impl.h %D%/symbols.c \
	%D%/symbols.h %D%/table.c %D%/table.h %D%/total.c %D%/total.h %D%/tune.c
