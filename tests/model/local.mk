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
check_PROGRAMS += %D%/growth
%C%_growth_SOURCES = %D%/growth.c
%C%_growth_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
TESTS += %D%/growth
