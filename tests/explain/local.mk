# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/examination
EXPLAIN_RECORDED = cc fw gol_large gol_small kmeans_flat kmeans_sync kmeans_wide lists locks locks_over quake quake_collapse
EXTRA_DIST += %D%/recorded/README.md $(EXPLAIN_RECORDED:%=%D%/recorded/%.json)
check_PROGRAMS += %D%/hostile
%C%_hostile_SOURCES = %D%/hostile.c %D%/fuzz_explain.c src/explain.h \
	src/explain_view.c src/explain_result.c src/explain_effects.c src/explain_roofline.c src/explain_scaling.c \
	src/explain_series.c src/explain_law.c src/explain_table.c src/explain_sample.c src/explain_landscape.c \
	src/explain_drivers.c src/explain_sizes.c src/explain_pareto.c src/explain_path.c \
	src/explain_text_path.c src/explain_text.c src/explain_text_why.c \
	src/explain_text_scaling.c src/explain_text_effects.c src/explain_text_place.c \
	src/ceilings_file.c src/ceilings_kinds.c src/results.c src/results_program.c src/results_effects.c src/results_pareto.c \
	src/results_usage.c src/results_device.c src/results_counters.c src/results_regions.c src/counters_value.c \
	src/counters_table.c src/counters_reason.c src/ui.c src/ui_text.c src/ui_table.c src/ui_wrap.c
%C%_hostile_LDADD = libtuner.la libtopo.la libbase.la $(GSL_LIBS) $(JANSSON_LIBS) -lm
TESTS += %D%/hostile
