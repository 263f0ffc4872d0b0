# SPDX-License-Identifier: GPL-3.0-or-later
# topo is BSD: the worker links it too.
noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = \
	%D%/topo.c %D%/topo_trial.c %D%/topo_places.c %D%/topo_binding.c %D%/topo_json.c %D%/topo_xml.c %D%/topo_impl.h %D%/topo.h
libtopo_la_LIBADD = libbase.la $(HWLOC_LIBS) $(JANSSON_LIBS)

# A command is one file and one line here; the line is also its registry entry.
COMMANDS = \
	%D%/cmd_tune.c \
	%D%/cmd_sweep.c \
	%D%/cmd_run.c \
	%D%/cmd_compare.c \
	%D%/cmd_replay.c \
	%D%/cmd_score.c \
	%D%/cmd_explain.c \
	%D%/cmd_report.c \
	%D%/cmd_export.c \
	%D%/cmd_apply.c \
	%D%/cmd_profile.c \
	%D%/cmd_store.c \
	%D%/cmd_fleet.c \
	%D%/cmd_machine.c \
	%D%/cmd_doctor.c \
	%D%/cmd_list.c

PROGRAM_PLAN = \
	%D%/openmp.c %D%/openmp.h %D%/openmp_file.c %D%/openmp_file.h \
	%D%/program_plan.c %D%/program_plan.h %D%/program_plan_impl.h \
	%D%/program_plan_command.c %D%/program_plan_params.c %D%/program_plan_openmp.c \
	%D%/program_plan_environment.c %D%/program_plan_baseline.c

CHARTS = \
	%D%/report/chart.c %D%/report/chart.h %D%/report/chart_impl.h %D%/report/chart_gnuplot.c %D%/report/chart_script.c \
	%D%/report/chart_text.c %D%/report/chart_colour.c %D%/report/chart_css.c %D%/report/chart_axis.c %D%/report/chart_layout.c \
	%D%/report/chart_frame.c %D%/report/chart_legend.c %D%/report/chart_series.c %D%/report/chart_heat.c \
	%D%/report/chart_svg.c %D%/report/chart_svg.h %D%/report/chart_svg_read.c %D%/report/chart_svg_path.c

REPORT = \
	%D%/report/html.c %D%/report/html.h %D%/report/sheet.c %D%/report/sheet.h %D%/report/deck.c %D%/report/deck.h \
	%D%/report/page.c %D%/report/page.h %D%/report/report.h %D%/report/words.c %D%/report/gather.c %D%/report/gather_explain.c \
	%D%/report/machine.c %D%/report/machine_choose.c %D%/report/recommend.c %D%/report/case.c %D%/report/slice.c %D%/report/slice.h %D%/report/curves.c %D%/report/curves_make.c \
	%D%/report/curves_draw.c %D%/report/curves_table.c %D%/report/curves.h \
	%D%/report/heat.c %D%/report/best.c %D%/report/effects.c %D%/report/scaling.c %D%/report/sizes.c %D%/report/roof.c %D%/report/counts.c \
	%D%/report/progress.c %D%/report/why.c %D%/report/provenance.c

bin_PROGRAMS += sweetspot
sweetspot_SOURCES = $(COMMANDS) $(REPORT) \
	%D%/main.c %D%/cmd.h %D%/registry.c \
	%D%/fleet_setup.c %D%/fleet_line.c %D%/fleet_ask.c %D%/fleet_ask.h %D%/fleet_child.c %D%/fleet_nodes.c %D%/fleet_probe.c \
	%D%/fleet_machine.c %D%/fleet_state.c %D%/fleet_types.c %D%/fleet_losses.c %D%/fleet_duel.c %D%/fleet_plan.c %D%/fleet_show.c \
	%D%/fleet_status.c %D%/fleet_run.h \
	%D%/state.c %D%/state_machine.c %D%/state_store.c %D%/state_next.c %D%/state_text.c %D%/state.h \
	%D%/apply_choose.c %D%/apply_template.c %D%/apply_launch.c %D%/apply_say.c %D%/apply.h \
	%D%/app.c %D%/app.h %D%/device.c %D%/device.h %D%/plugin.c %D%/plugin.h \
	%D%/params.c %D%/params_words.c %D%/params.h %D%/plan.c %D%/plan_hints.c %D%/plan_hints.h %D%/plan.h %D%/bindings.c %D%/bindings.h \
	$(PROGRAM_PLAN) %D%/program_spec.c %D%/program_spec.h \
	%D%/ceilings.c %D%/ceilings_kinds.c %D%/ceilings_plan.c %D%/ceilings_gpu.c %D%/ceilings_file.c %D%/ceilings_table.c %D%/ceilings.h \
	%D%/doctor_build.c %D%/doctor_system.c %D%/doctor_counters.c %D%/doctor_gpu.c %D%/doctor.h \
	%D%/doctor_rights.c %D%/doctor_rights.h \
	%D%/tune_nodes.c %D%/tune_nodes.h %D%/tune_session.c %D%/tune_session.h %D%/tune_say.c %D%/tune_say.h \
	%D%/tune_item_kernel.c %D%/tune_item_program.c %D%/tune_item_spec.c %D%/tune_item.h \
	%D%/tune_item_source.c %D%/source_spec.c %D%/source_spec.h \
	%D%/tune_session_impl.h %D%/tune_sizes.c %D%/tune_sizes_read.c %D%/tune_sizes.h %D%/results_sizes.c \
	%D%/tune_counters.c %D%/tune_counters.h %D%/results_counters.c %D%/results_regions.c \
	%D%/replay_options.c %D%/replay_options.h %D%/replay_baseline.c %D%/replay_baseline.h %D%/replay_json.c %D%/replay_table.c %D%/replay_output.h \
	%D%/score_json.c %D%/score_table.c %D%/score_output.h \
	%D%/stop_when.c %D%/stop_when.h \
	%D%/explain_load.c %D%/explain_view.c %D%/explain_result.c %D%/explain_effects.c %D%/explain_roofline.c \
	%D%/explain_scaling.c %D%/explain_series.c %D%/explain_law.c %D%/explain_scaling.h %D%/explain.h \
	%D%/explain_table.c %D%/explain_sample.c %D%/explain_table.h %D%/explain_landscape.c %D%/explain_drivers.c \
	%D%/explain_sizes.c %D%/explain_pareto.c %D%/explain_path.c %D%/explain_text_path.c \
	%D%/explain_probe.c %D%/explain_words.c %D%/explain_changes.c %D%/explain_probe.h \
	%D%/explain_text.c %D%/explain_text_why.c %D%/explain_text_scaling.c %D%/explain_text_effects.c %D%/explain_text_place.c \
	%D%/explain_text.h \
	%D%/tune_options.c %D%/tune_options.h %D%/sweep_table.c %D%/sweep_table.h \
	%D%/list_counters.c %D%/list_counters.h %D%/list_metrics.c %D%/list_metrics.h %D%/list_params.c %D%/list_params.h %D%/figures.c %D%/figures.h %D%/references.c %D%/references.h \
	%D%/byhand.c %D%/byhand_counters.c %D%/byhand_store.c %D%/byhand_store.h %D%/byhand.h %D%/lock.c %D%/lock.h \
	%D%/compare_program.c %D%/compare_program.h %D%/program_config.c %D%/program_config.h \
	%D%/counters.h %D%/counters_value.c %D%/counters_table.c %D%/counters_reason.c %D%/counters_sources.c \
	%D%/counters_words.c %D%/counters_words.h %D%/counters_ask.c %D%/counters_ask.h \
	%D%/roofline.c %D%/roofline.h $(CHARTS) \
	%D%/profile_verb.h %D%/profile_input.c %D%/profile_standing.c %D%/profile_input.h \
	%D%/profile_text.c %D%/profile_text.h %D%/profile_show.c %D%/profile_diff.c %D%/profile_merge.c %D%/profile_select.c \
	%D%/profile_verify.c %D%/profile_verify_duel.c %D%/profile_verify_program.c %D%/profile_verify_say.c %D%/profile_verify.h \
	%D%/ui.c %D%/ui_text.c %D%/ui_table.c %D%/ui_wrap.c %D%/ui.h \
	%D%/results.c %D%/results_program.c %D%/results_effects.c %D%/results_pareto.c %D%/results_usage.c %D%/results_device.c %D%/results.h
nodist_sweetspot_SOURCES = %D%/registry.def %D%/report/page_css.inc %D%/report/page_js.inc
sweetspot_CPPFLAGS = $(AM_CPPFLAGS) -DSS_LIBEXECDIR='"$(pkglibexecdir)"'
sweetspot_LDFLAGS = $(AM_LDFLAGS) $(BUNDLE_RPATH)
sweetspot_LDADD = libbuilt.la libtuner.la libtopo.la libbase.la

# With the flags of the worker, which it describes; its table of sources is that of the kernels.
noinst_LTLIBRARIES += libbuilt.la
libbuilt_la_SOURCES = %D%/built.c %D%/built.h
nodist_libbuilt_la_SOURCES = %D%/sources.def
libbuilt_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
BUILT_SOURCES += %D%/sources.def
CLEANFILES += %D%/sources.def
%D%/sources.def: kernels/registry.def
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp kernels/registry.def $@

BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(COMMANDS); do f=$${f##*/cmd_}; echo "COMMAND($${f%.*})"; done >$@

# Style and script of the report as strings.
BUILT_SOURCES += %D%/report/page_css.inc %D%/report/page_js.inc
CLEANFILES += %D%/report/page_css.inc %D%/report/page_js.inc
EXTRA_DIST += %D%/report/page.css %D%/report/page.js
%D%/report/page_css.inc: %D%/report/page.css
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' $(srcdir)/%D%/report/page.css >$@
%D%/report/page_js.inc: %D%/report/page.js
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' $(srcdir)/%D%/report/page.js >$@
