# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/credit
TESTS += %D%/credit
%C%_credit_SOURCES = %D%/credit.c
%C%_credit_LDADD = libtuner.la libbase.la -lm
