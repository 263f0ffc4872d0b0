# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/additive.h %D%/alias.c %D%/anova.c %D%/anova.h %D%/anova_bins.c %D%/anova_draw.c \
	%D%/anova_grid.c %D%/anova_impl.h %D%/anova_split.c %D%/design.c %D%/drivers.c %D%/drivers.h \
	%D%/drivers_clean.c %D%/drivers_fit.c %D%/drivers_group.c %D%/drivers_impl.h %D%/effects.c %D%/effects.h \
	%D%/fit.c %D%/landscape.c %D%/landscape.h %D%/landscape_impl.h %D%/landscape_near.c %D%/response.c \
	%D%/response.h %D%/response_impl.h %D%/response_score.c %D%/response_outliers.c %D%/table.c %D%/table.h
