# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/effects_impl.h %D%/anova.c %D%/anova.h %D%/anova_split.c %D%/design.c %D%/effects_drivers.c \
	%D%/drivers.h %D%/effects_additive.c %D%/effects.h %D%/effects_landscape.c %D%/landscape.h \
	%D%/response.c %D%/response.h
