# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/expr
%C%_expr_SOURCES = %D%/expr.c
%C%_expr_LDADD = libtuner.la libbase.la
TESTS += %D%/expr

check_PROGRAMS += %D%/domain
%C%_domain_SOURCES = %D%/domain.c
%C%_domain_LDADD = libtuner.la libbase.la
TESTS += %D%/domain
