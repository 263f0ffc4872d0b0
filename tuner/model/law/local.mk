# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/growth.c %D%/growth.h %D%/growth_impl.h %D%/growth_line.c %D%/scaling.c %D%/scaling.h \
	%D%/scaling_data.c %D%/scaling_impl.h
