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

# fuzz_graph.c can be built for libFuzzer by hand, too: its first lines say how.
check_PROGRAMS += %D%/cc %D%/cc_files
TESTS += %D%/cc %D%/cc_files
%C%_cc_SOURCES = %D%/cc.c
%C%_cc_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_cc_LDADD = libkernels.la libbase.la -lm
%C%_cc_files_SOURCES = %D%/cc_files.c %D%/fuzz_graph.c
%C%_cc_files_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_cc_files_LDADD = libkernels.la libbase.la -lm
