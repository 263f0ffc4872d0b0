# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/check.c %D%/debug.h \
 %D%/tune.h %D%/explore.c %D%/fit.c %D%/fit.h %D%/names.c %D%/names.h %D%/runs.h %D%/output_impl.h %D%/output_lines.c %D%/output_words.c %D%/explore.h %D%/profile.c %D%/second.h \
	%D%/rebuilt.c %D%/rebuilt.h %D%/record.c %D%/record.h %D%/record_impl.h %D%/regions.h %D%/runs.c %D%/impl.h %D%/search_impl.h %D%/second.c %D%/sizes.c %D%/sizes.h %D%/symbols_impl.h \
 %D%/table.c %D%/table.h %D%/check.h %D%/tune.c
