# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/examination %D%/calibration
slow_tests += %D%/examination %D%/calibration
EXPLAIN_RECORDED = cc fw gol_large gol_small kmeans_flat kmeans_sync kmeans_wide lists locks locks_over quake quake_collapse
EXTRA_DIST += %D%/recorded/README.md $(EXPLAIN_RECORDED:%=%D%/recorded/%.json)
check_PROGRAMS += %D%/hostile
# Their own functions stand for those of src/app/app.c.
%C%_hostile_LDFLAGS = -Wl,--allow-multiple-definition
%C%_hostile_SOURCES = %D%/hostile.c %D%/fuzz_explain.c
%C%_hostile_LDADD = $(APP) $(GSL_LIBS) $(JANSSON_LIBS) -lm
EXTRA_DIST += %D%/seeds
fuzz_targets += %D%/fuzz_explain
%C%_fuzz_explain_SOURCES = %D%/fuzz_explain.c tests/fuzz_json.c
%C%_fuzz_explain_LDFLAGS = $(LIBFUZZER) -Wl,--allow-multiple-definition
%C%_fuzz_explain_LDADD = $(%C%_hostile_LDADD)
slow_tests += %D%/hostile
dist_check_SCRIPTS += %D%/explain %D%/reports %D%/arrivals %D%/probe
dist_check_SCRIPTS += %D%/truths %D%/headers
slow_tests += %D%/truths
EXTRA_DIST += %D%/published
TESTS += %D%/reports %D%/arrivals %D%/headers
EXTRA_DIST += %D%/files
EXTRA_DIST += $(EXPLAIN_TABLES:%=%D%/tables/%.csv)
EXPLAIN_TABLES = array cc-iterations fib-tasks gpu-flat gpu-host merge-cutoff hash histogram matmul mergesort-wide cuda-transfers first-touch-far mpi mpi-halo mpi-processes mpi-weak fw-cpu-gpu fw-cuda-factor-counters fw-cuda-parts fw-recursive fw-tasks-inner fw-trap gol \
	kmeans-atomics kmeans-cuda-blocks kmeans-first-touch lists-64-threads lists-mixes locks-64-threads locks-rivals quake-cuda
slow_tests += %D%/explain %D%/probe
