# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/sizes_explore.c %D%/impl.h %D%/sizes_json.c \
 %D%/ratios.c \
	%D%/sizes.c %D%/sizes.h
