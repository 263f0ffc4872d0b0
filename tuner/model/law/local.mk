# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/growth_law.c %D%/growth.h %D%/law_impl.h %D%/growth_line.c %D%/scaling_law.c %D%/scaling.h \
	%D%/scaling_data.c
