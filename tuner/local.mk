# SPDX-License-Identifier: GPL-3.0-or-later
TUNER_SPACE = \
	%D%/domain.c %D%/domain.h \
	%D%/space.c %D%/space.h %D%/space_impl.h \
	%D%/space_bind.c %D%/space_build.c \
	%D%/space_source.c %D%/space_source.h \
	%D%/space_order.c %D%/space_order.h \
	%D%/space_tree.c %D%/space_rewrite.c %D%/space_tree.h \
	%D%/space_slice.c %D%/space_slice.h \
	%D%/space_part.c %D%/space_rows.c %D%/space_part.h \
	%D%/space_keys.c %D%/space_keys.h %D%/space_table.c %D%/space_table.h \
	%D%/space_intern.c %D%/space_intern.h \
	%D%/space_diagram.c %D%/space_diagram.h \
	%D%/space_index.c \
	%D%/space_near.c %D%/space_nearest.c %D%/space_nearest.h \
	%D%/space_repair.c %D%/space_repairs.c %D%/space_repair.h \
	%D%/space_walk.c %D%/space_walk.h \
	%D%/space_read.c %D%/space_json.c

TUNER_SPEC = \
	%D%/spec.c %D%/spec_space.c %D%/spec_baseline.c %D%/spec.h %D%/spec_impl.h \
	%D%/spec_values.c %D%/spec_loop.c %D%/spec_scalar.c %D%/spec_reader.h %D%/spec_condition.c \
	%D%/spec_list.c %D%/spec_list.h %D%/spec_slice.c %D%/spec_slice.h

TUNER_SPEC_C = \
	%D%/spec_c.c %D%/spec_c.h \
	%D%/spec_c_read.c %D%/spec_c_argument.c %D%/spec_c_source.c %D%/spec_c_compile.c %D%/spec_c_there.c \
	%D%/spec_c_build.c %D%/spec_c_impl.h

TUNER_SPEC_CUDA = \
	%D%/spec_cuda.c %D%/spec_cuda.h %D%/spec_cuda_impl.h \
	%D%/spec_cuda_read.c %D%/spec_cuda_argument.c %D%/spec_cuda_option.c \
	%D%/spec_cuda_value.c %D%/spec_cuda_shape.c

TUNER_SEARCH = \
	%D%/search.c %D%/search.h \
	%D%/crew.c %D%/crew.h %D%/replay.c %D%/replay.h %D%/replay_source.c %D%/replay_source.h \
	%D%/score.c %D%/score_axis.c %D%/score_sheet.c %D%/score.h %D%/score_impl.h \
	%D%/score_peers.c %D%/score_peers.h

TUNER_MEASURE = \
	%D%/kernel_desc.c %D%/kernel_desc.h \
	%D%/worker.c %D%/worker.h %D%/worker_impl.h \
	%D%/worker_describe.c %D%/worker_devices.c %D%/worker_exchange.c %D%/worker_trial.c \
	%D%/worker_counters.c %D%/worker_counters.h \
	%D%/trial.c %D%/trial.h %D%/trial_counters.c %D%/trial_counters.h \
	%D%/race.c %D%/duel.c %D%/contender.c %D%/race.h %D%/contender.h %D%/race_impl.h %D%/duel_impl.h \
	%D%/block.c %D%/block.h %D%/race_blocks.c %D%/duel_blocks.c \
	%D%/unsafe.c %D%/unsafe.h \
	%D%/tune.c %D%/tune_measure.c %D%/tune_search.c %D%/tune_final.c %D%/tune_result.c %D%/tune_pareto.c %D%/tune_effects.c %D%/tune_simplify.c \
	%D%/tune_counters.c %D%/tune_counted.c %D%/tune_tell.c %D%/tune_begin.c %D%/tune_budget.c \
	%D%/tune_recall.c %D%/tune_recall.h %D%/tune_sources.c %D%/tune_sources.h %D%/tune_source.c %D%/tune_source.h \
	%D%/deviation.c %D%/deviation.h \
	%D%/tune_parallel.c %D%/tune_parallel_work.c %D%/tune_parallel_take.c %D%/tune_parallel_nodes.c \
	%D%/tune_parallel_finals.c %D%/tune_parallel_lead.c %D%/tune_parallel_recall.c %D%/tune_parallel_counters.c \
	%D%/tune_parallel.h %D%/tune_counting.h \
	%D%/tune.h %D%/tune_state.h

TUNER_FLEET = \
	%D%/fleet/pool.c %D%/fleet/pool.h \
	%D%/fleet/pool_simulated.c %D%/fleet/pool_simulated.h %D%/fleet/event_heap.c %D%/fleet/event_heap.h \
	%D%/fleet/fleet.c %D%/fleet/fleet_judge.c %D%/fleet/fleet.h %D%/fleet/fleet_impl.h

TUNER_PROGRAM = \
	%D%/program.c %D%/program.h %D%/program_impl.h \
	%D%/program_check.c %D%/program_command.c %D%/program_env.c \
	%D%/program_line.c %D%/program_json.c \
	%D%/program_path.c %D%/program_path.h %D%/program_source.c %D%/program_source.h \
	%D%/program_quote.c %D%/program_template.c %D%/program_template.h \
	%D%/program_text.c %D%/program_text.h \
	%D%/program_tree.c %D%/program_tree_mark.c %D%/program_tree.h \
	%D%/program_folder.c %D%/program_folder.h \
	%D%/program_build.c %D%/program_build.h \
	%D%/program_run.c %D%/program_run.h %D%/program_trial.c %D%/program_counters.c

TUNER_STORE = \
	%D%/store.c %D%/store_file.c %D%/store_db.c %D%/store_schema.c \
	%D%/store_write.c %D%/store_read.c %D%/store_reals.c %D%/store_resume.c %D%/store_plan.c %D%/store_sources.c %D%/store_searches.c \
	%D%/store_history.c %D%/store_history.h \
	%D%/store_merge.c %D%/store_merge_session.c %D%/store_merge_search.c %D%/store_merge_trial.c %D%/store_merge_keys.c \
	%D%/store_merge_impl.h %D%/store_merge.h %D%/store_about.c %D%/store_about.h \
	%D%/store.h %D%/store_db.h \
	%D%/trial_store.c %D%/trial_store.h \
	%D%/profile.c %D%/profile_check.c %D%/profile_env.c %D%/profile.h \
	%D%/profile_program.c %D%/profile_program.h %D%/profile_sizes.c %D%/profile_sizes.h \
	%D%/profile_state.c %D%/profile_entry.c %D%/profile_state.h %D%/profile_merge.c %D%/profile_merge.h \
	%D%/profile_diff.c %D%/profile_diff.h %D%/profile_select.c %D%/profile_select_words.c %D%/profile_select.h \
	%D%/profile_folder.c %D%/profile_folder.h %D%/profile_link.c

TUNER_SIZES = \
	%D%/sizes.c %D%/sizes.h %D%/sizes_impl.h \
	%D%/sizes_merge.c %D%/sizes_stations.c %D%/sizes_stations.h %D%/sizes_next.c %D%/sizes_explore.c \
	%D%/sizes_store.c %D%/sizes_ratios.c %D%/sizes_json.c \
	%D%/sizes_ways.c %D%/sizes_ways_read.c %D%/sizes_turns.c \
	%D%/sizes_offers.c %D%/sizes_bridges.c %D%/sizes_bridges_read.c

noinst_LTLIBRARIES += libtuner.la
libtuner_la_LIBADD = libbase.la $(GSL_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) $(JANSSON_LIBS)
libtuner_la_SOURCES = $(TUNER_SPACE) $(TUNER_SPEC) $(TUNER_SPEC_C) $(TUNER_SPEC_CUDA) $(TUNER_SEARCH) $(TUNER_MEASURE) $(TUNER_FLEET) \
	$(TUNER_PROGRAM) $(TUNER_STORE) $(TUNER_SIZES)

include %D%/strategy/local.mk
include %D%/study/local.mk
include %D%/diagnosis/local.mk
include %D%/model/local.mk
include %D%/export/local.mk
include %D%/record/local.mk
include %D%/fleet/local.mk

# What a plug-in of a C function is made of, as arrays of lines.
nodist_libtuner_la_SOURCES += %D%/spec_c_kernel.def %D%/spec_c_harness.def
BUILT_SOURCES += %D%/spec_c_kernel.def %D%/spec_c_harness.def
CLEANFILES += %D%/spec_c_kernel.def %D%/spec_c_harness.def
EXTRA_DIST += %D%/spec_c_harness.inc
TUNER_QUOTE = $(SED) 's/[\\"]/\\&/g; s/^/"/; s/$$/",/'
%D%/spec_c_kernel.def: kernels/kernel.h
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(TUNER_QUOTE) $< >$@
%D%/spec_c_harness.def: %D%/spec_c_harness.inc
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(TUNER_QUOTE) $< >$@
