# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/baseline.c %D%/baseline.h %D%/json.c %D%/options.c %D%/options.h %D%/output.h \
	%D%/score_json.c %D%/score_output.h %D%/score_table.c %D%/table.c
