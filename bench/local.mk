# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += \
	%D%/run %D%/picture %D%/common.py %D%/anytime.py %D%/counters.py %D%/experiments.py %D%/cc.py %D%/kmeans.py %D%/latency.py \
	%D%/gemm.py %D%/inside.py %D%/lib.py %D%/lists.py %D%/model.py %D%/locks.py %D%/overhead.py %D%/quake.py %D%/regions.py %D%/regions/mix.c \
	%D%/regions/calls.c %D%/regions/cycle.c %D%/report.py %D%/search.py \
	%D%/search_replay.py %D%/noise.py %D%/peers.py %D%/peers_search.py %D%/transfer.py %D%/sizes.py %D%/spaces.py %D%/spaces2.py %D%/rent.py %D%/suite.py %D%/verdicts.py %D%/wallclock.py %D%/fair.py %D%/fair/coulomb.cu %D%/fair/gemm.cu \
	%D%/fair/matmul.cu %D%/fair/nbody.cu %D%/fair/pnpoly.cu %D%/fair/reduction.cu %D%/fair/transpose.cu \
	%D%/fleet.py %D%/store.py
EXTRA_DIST += %D%/gpu/device.py %D%/gpu/suite.py %D%/gpu/limits.py %D%/gpu/fw.py %D%/gpu/kmeans.py %D%/gpu/cc.py \
	%D%/gpu/stencils.py %D%/gpu/overhead.py %D%/gpu/search.py %D%/gpu/gemm.py %D%/gpu/cublas.py %D%/gpu/launch.c
.PHONY: bench bench-gpu
# On a host with a GPU: minutes of it, and gigabytes of its memory.
bench-gpu: all
	SWEETSPOT_WORKER='$(abs_top_builddir)/sweetspot-worker' SWEETSPOT='$(abs_top_builddir)/sweetspot' \
		python3 $(srcdir)/%D%/gpu/suite.py bench-gpu.json
bench: all %D%/locks_ck$(EXEEXT) %D%/spaces_api$(EXEEXT) %D%/model_api$(EXEEXT) %D%/lib_api$(EXEEXT) %D%/inside_api$(EXEEXT) %D%/fleet_api$(EXEEXT)
	BUILDDIR='$(abs_top_builddir)' $(SHELL) $(srcdir)/bench/run bench.json

# Only `make bench` builds it; without Concurrency Kit it is empty.
EXTRA_PROGRAMS += %D%/locks_ck %D%/spaces_api %D%/model_api %D%/lib_api %D%/inside_api %D%/fleet_api
CLEANFILES += %D%/locks_ck$(EXEEXT) %D%/spaces_api$(EXEEXT) %D%/model_api$(EXEEXT) %D%/lib_api$(EXEEXT) %D%/inside_api$(EXEEXT) %D%/fleet_api$(EXEEXT)
%C%_locks_ck_SOURCES = %D%/locks_ck.c
%C%_locks_ck_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_locks_ck_LDADD = libkernels.la
%C%_spaces_api_SOURCES = %D%/spaces_api.c tests/tuner/space/help.h
%C%_spaces_api_LDADD = $(TUNER) libbase.la -lm
%C%_model_api_SOURCES = %D%/model_api.c tests/tuner/space/help.h
%C%_model_api_LDADD = $(TUNER) libbase.la -lm
%C%_lib_api_SOURCES = %D%/lib_api.c
%C%_lib_api_LDADD = $(LIBSWEETSPOT) libbase.la $(JANSSON_LIBS) -lm
%C%_inside_api_SOURCES = %D%/inside_api.c
%C%_inside_api_LDADD = $(TUNER) libsweetspot.a libbase.la $(JANSSON_LIBS) -lm
%C%_fleet_api_SOURCES = %D%/fleet_api.c tests/tuner/fleet/play.c tests/tuner/fleet/play.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_fleet_api_LDADD = $(TUNER) libbase.la -lm
