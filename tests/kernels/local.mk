# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += %D%/live.h %D%/values.h %D%/sanitized.h %D%/history.h %D%/steps.h
EXTRA_DIST += %D%/live.h %D%/fw_rig.h %D%/values.h %D%/cc_rig.h %D%/cc_shapes.h

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

check_PROGRAMS += %D%/fw %D%/fw_isa
TESTS += %D%/fw %D%/fw_isa
%C%_fw_SOURCES = %D%/fw.c
%C%_fw_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_fw_LDADD = libkernels.la libbase.la

check_PROGRAMS += %D%/locks
TESTS += %D%/locks
%C%_locks_SOURCES = %D%/locks.c
%C%_locks_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_locks_LDADD = libkernels.la libbase.la -lm
check_PROGRAMS += %D%/lists %D%/lists_order
TESTS += %D%/lists %D%/lists_order
%C%_lists_SOURCES = %D%/lists.c
%C%_lists_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_lists_LDADD = libkernels.la libbase.la -lm
# The lists once more, with steps.h in them.
%C%_lists_order_SOURCES = %D%/lists_order.c
nodist_%C%_lists_order_SOURCES = \
	kernels/lists/coarse.c kernels/lists/fine.c kernels/lists/optimistic.c kernels/lists/lazy.c \
	kernels/lists/nonblocking.c kernels/lists/memory.c kernels/lists/epochs.c
%C%_lists_order_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -include $(srcdir)/tests/kernels/steps.h
check_PROGRAMS += %D%/quake
TESTS += %D%/quake
%C%_quake_SOURCES = %D%/quake.c
%C%_quake_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_quake_LDADD = libkernels.la libbase.la -lm
# fuzz_graph.c can be built for libFuzzer by hand, too: its first lines say how.
check_PROGRAMS += %D%/cc %D%/cc_graphs %D%/cc_files
TESTS += %D%/cc %D%/cc_graphs %D%/cc_files
%C%_cc_SOURCES = %D%/cc.c
%C%_cc_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_cc_LDADD = libkernels.la libbase.la -lm
%C%_cc_graphs_SOURCES = %D%/cc_graphs.c
%C%_cc_graphs_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_cc_graphs_LDADD = libkernels.la libbase.la -lm
%C%_cc_files_SOURCES = %D%/cc_files.c %D%/fuzz_graph.c
%C%_cc_files_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_cc_files_LDADD = libkernels.la libbase.la -lm
%C%_fw_isa_SOURCES = %D%/fw_isa.c
%C%_fw_isa_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_fw_isa_LDADD = libkernels.la libbase.la
check_PROGRAMS += %D%/gol_tiles
TESTS += %D%/gol_tiles
%C%_gol_tiles_SOURCES = %D%/gol_tiles.c
%C%_gol_tiles_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_gol_tiles_LDADD = libkernels.la libbase.la
check_PROGRAMS += %D%/kmeans
TESTS += %D%/kmeans
EXTRA_DIST += %D%/kmeans.h
%C%_kmeans_SOURCES = %D%/kmeans.c
%C%_kmeans_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_kmeans_LDADD = libkernels.la libbase.la -lm
check_PROGRAMS += %D%/ceiling
TESTS += %D%/ceiling
%C%_ceiling_SOURCES = %D%/ceiling.c
%C%_ceiling_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_ceiling_LDADD = libkernels.la libbase.la -lm
check_PROGRAMS += %D%/events %D%/events_oracle
TESTS += %D%/events %D%/events_oracle
EXTRA_DIST += %D%/events.h
%C%_events_SOURCES = %D%/events.c
%C%_events_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_events_LDADD = libkernels.la libbase.la -lm
%C%_events_oracle_SOURCES = %D%/events_oracle.c
%C%_events_oracle_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_events_oracle_LDADD = libkernels.la libbase.la -lm
