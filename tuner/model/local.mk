# SPDX-License-Identifier: GPL-3.0-or-later
# The only place that includes GSL.
libtuner_la_SOURCES += %D%/gp.c %D%/gp_kernel.c %D%/gp_problem.c %D%/gp_fit.c %D%/gp_pool.c %D%/gp.h %D%/gp_impl.h \
	%D%/paired.c %D%/paired.h \
	%D%/effects.c %D%/effects_design.c %D%/effects_fit.c %D%/effects_alias.c %D%/effects.h %D%/effects_impl.h \
	%D%/scaling.c %D%/scaling_data.c %D%/scaling_minimum.c %D%/scaling_profile.c %D%/scaling_mean.c %D%/scaling_outlier.c \
	%D%/scaling_judge.c %D%/scaling.h %D%/scaling_impl.h %D%/pareto.c %D%/pareto.h \
	%D%/growth.c %D%/growth_local.c %D%/growth_line.c %D%/growth_overhead.c %D%/growth.h %D%/growth_impl.h \
	%D%/robust.c %D%/robust.h %D%/response.c %D%/response_check.c %D%/response_keys.c %D%/response_dim.c \
	%D%/response_wild.c %D%/response_score.c %D%/response_predict.c %D%/response.h %D%/response_impl.h \
	%D%/anova.c %D%/anova_split.c %D%/anova_table.c %D%/anova_draw.c %D%/anova_grid.c %D%/anova.h %D%/anova_impl.h \
	%D%/landscape.c %D%/landscape_near.c %D%/landscape.h %D%/landscape_impl.h \
	%D%/drivers.c %D%/drivers_clean.c %D%/drivers_group.c %D%/drivers_fit.c %D%/drivers.h %D%/drivers_impl.h
