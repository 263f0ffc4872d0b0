# SPDX-License-Identifier: GPL-3.0-or-later
GP_TESTS = %D%/gp %D%/gp_pool %D%/gp_fit
check_PROGRAMS += $(GP_TESTS)
%C%_gp_SOURCES = %D%/gp.c %D%/gp_help.h
%C%_gp_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_gp_pool_SOURCES = %D%/gp_pool.c %D%/gp_help.h
%C%_gp_pool_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_gp_fit_SOURCES = %D%/gp_fit.c %D%/gp_help.h
%C%_gp_fit_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
TESTS += $(GP_TESTS)

SCALING_TESTS = %D%/scaling %D%/scaling_hard %D%/pareto
check_PROGRAMS += $(SCALING_TESTS)
%C%_scaling_SOURCES = %D%/scaling.c %D%/scaling_made.h
%C%_scaling_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_scaling_hard_SOURCES = %D%/scaling_hard.c %D%/scaling_made.h
%C%_scaling_hard_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_pareto_SOURCES = %D%/pareto.c
%C%_pareto_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
TESTS += $(SCALING_TESTS)
check_PROGRAMS += %D%/growth
%C%_growth_SOURCES = %D%/growth.c
%C%_growth_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
TESTS += %D%/growth
