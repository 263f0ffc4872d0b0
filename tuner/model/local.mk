# SPDX-License-Identifier: GPL-3.0-or-later
# The only place that includes GSL.
libtuner_la_SOURCES += %D%/gp.c %D%/gp_kernel.c %D%/gp_problem.c %D%/gp_fit.c %D%/gp_pool.c %D%/gp.h %D%/gp_impl.h \
	%D%/paired.c %D%/paired.h \
	%D%/growth.c %D%/growth_line.c %D%/growth_overhead.c %D%/growth.h %D%/growth_impl.h \
	%D%/effects.c %D%/effects_design.c %D%/effects_fit.c %D%/effects_alias.c %D%/effects.h %D%/effects_impl.h
