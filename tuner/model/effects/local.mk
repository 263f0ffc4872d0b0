# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/effects_impl.h %D%/anova.c %D%/anova.h %D%/anova_impl.h %D%/anova_split.c %D%/design.c \
	%D%/drivers.c %D%/drivers.h %D%/drivers_fit.c %D%/drivers_impl.h %D%/effects.c %D%/effects.h %D%/landscape.c \
	%D%/landscape.h %D%/landscape_impl.h %D%/response.c %D%/response.h
