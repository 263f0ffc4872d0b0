# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += %D%/live.h %D%/values.h

check_PROGRAMS += %D%/table %D%/conformance %D%/synthetic %D%/gol
TESTS += %D%/table %D%/conformance %D%/synthetic %D%/gol
%C%_table_SOURCES = %D%/table.c
%C%_table_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_table_LDADD = libkernels.la libbase.la -lm
%C%_conformance_SOURCES = %D%/conformance.c
%C%_conformance_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_conformance_LDADD = libkernels.la libbase.la
%C%_synthetic_SOURCES = %D%/synthetic.c
%C%_synthetic_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_synthetic_LDADD = libkernels.la libbase.la
%C%_gol_SOURCES = %D%/gol.c
%C%_gol_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_gol_LDADD = libkernels.la libbase.la

check_PROGRAMS += %D%/fw
TESTS += %D%/fw
%C%_fw_SOURCES = %D%/fw.c
%C%_fw_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_fw_LDADD = libkernels.la libbase.la

check_PROGRAMS += %D%/ceiling
TESTS += %D%/ceiling
%C%_ceiling_SOURCES = %D%/ceiling.c
%C%_ceiling_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_ceiling_LDADD = libkernels.la libbase.la -lm
