# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/examination
slow_tests += %D%/examination
EXPLAIN_RECORDED = cc fw gol_large gol_small kmeans_flat kmeans_sync kmeans_wide lists locks locks_over quake quake_collapse
EXTRA_DIST += %D%/recorded/README.md $(EXPLAIN_RECORDED:%=%D%/recorded/%.json)
check_PROGRAMS += %D%/hostile
# The parts of the program that read a document and print what it explains.
explain_parts = %D%/fuzz_explain.c src/cmd/explain/explain.h \
	src/cmd/explain/view.c src/cmd/explain/result.c src/cmd/explain/effects.c src/cmd/explain/result_roofline.c src/cmd/explain/scaling.c \
	src/cmd/explain/series.c src/cmd/explain/law.c src/cmd/explain/table.c src/cmd/explain/sample.c src/cmd/explain/landscape.c \
	src/cmd/explain/drivers.c src/cmd/explain/sizes.c src/cmd/explain/pareto.c src/cmd/explain/path.c \
	src/cmd/explain/text_path.c src/cmd/explain/text_table.c src/cmd/explain/text.c src/cmd/explain/text_why.c \
	src/cmd/explain/text_scaling.c src/cmd/explain/text_effects.c src/cmd/explain/text_position.c \
	src/cmd/machine/ceilings_file.c src/cmd/machine/ceilings_kinds.c src/show/results.c src/show/results_block.c src/show/results_busy.c src/show/results_seconds.c src/show/results_program.c src/show/results_effects.c src/show/results_pareto.c \
	src/show/results_usage.c src/show/results_device.c src/show/results_counters.c src/show/results_regions.c src/show/counters_value.c \
	src/show/counters_table.c src/show/counters_reason.c src/ui/ui.c src/ui/text.c src/ui/fold.c src/ui/table.c src/ui/wrap.c
%C%_hostile_SOURCES = %D%/hostile.c $(explain_parts)
%C%_hostile_LDADD = $(TUNER) libtopo.la libbase.la $(GSL_LIBS) $(JANSSON_LIBS) -lm
EXTRA_DIST += %D%/seeds
fuzz_targets += %D%/fuzz_explain
%C%_fuzz_explain_SOURCES = $(explain_parts) tests/fuzz_json.c
%C%_fuzz_explain_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_explain_LDADD = $(%C%_hostile_LDADD)
slow_tests += %D%/hostile
check_PROGRAMS += %D%/words
TESTS += %D%/words
%C%_words_SOURCES = %D%/words.c src/cmd/explain/words.c src/cmd/explain/probe.h
%C%_words_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS) -lm
dist_check_SCRIPTS += %D%/explain %D%/reports
TESTS += %D%/reports
EXTRA_DIST += $(EXPLAIN_TABLES:%=%D%/tables/%.csv)
EXPLAIN_TABLES = array cc-iterations fib-tasks gpu-flat gpu-host merge-cutoff hash histogram matmul mergesort-wide cuda-transfers first-touch-far mpi mpi-halo mpi-processes mpi-weak fw-cpu-gpu fw-cuda-factor-counters fw-cuda-parts fw-recursive fw-tasks-inner fw-trap gol \
	kmeans-atomics kmeans-cuda-blocks kmeans-first-touch lists-64-threads lists-mixes locks-64-threads locks-rivals quake-cuda
slow_tests += %D%/explain
