# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += %D%/json.sh %D%/profile.sh
check_PROGRAMS += %D%/results_program
%C%_results_program_SOURCES = %D%/results_program.c src/results.c src/results_program.c src/results_effects.c src/results_pareto.c \
	src/results_usage.c src/results_device.c src/results_counters.c src/results_regions.c src/counters_value.c src/counters_table.c \
	src/counters_reason.c src/ui.c src/ui_text.c src/ui_table.c src/ui_wrap.c
%C%_results_program_LDADD = libtuner.la libbase.la -lm
TESTS += %D%/results_program
check_PROGRAMS += %D%/program_spec
%C%_program_spec_SOURCES = %D%/program_spec.c src/program_spec.c src/program_spec.h src/program_plan.h
%C%_program_spec_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
TESTS += %D%/program_spec
dist_check_SCRIPTS += %D%/terminal %D%/state %D%/usage %D%/spec %D%/handwork %D%/tune %D%/sizes %D%/resume \
	%D%/survive %D%/program %D%/apply %D%/ceilings %D%/experiments %D%/counters %D%/bundle %D%/replay %D%/explain \
	%D%/profile %D%/profile_merge %D%/profile_verify
EXTRA_DIST += %D%/counting-worker
check_PROGRAMS += %D%/ceilings_file
%C%_ceilings_file_SOURCES = %D%/ceilings_file.c src/ceilings_file.c src/ceilings_kinds.c src/ceilings_plan.c \
	src/ceilings.h
%C%_ceilings_file_LDADD = libtopo.la libbase.la $(JANSSON_LIBS) -lm
TESTS += %D%/ceilings_file
check_PROGRAMS += %D%/ceilings_gpu
%C%_ceilings_gpu_SOURCES = %D%/ceilings_gpu.c src/ceilings_gpu.c src/ceilings_kinds.c src/ceilings.h
%C%_ceilings_gpu_LDADD = libbase.la $(JANSSON_LIBS) -lm
TESTS += %D%/ceilings_gpu
check_PROGRAMS += %D%/results_counters
%C%_results_counters_SOURCES = %D%/results_counters.c src/results_counters.c src/results_regions.c src/counters_value.c \
	src/counters_table.c src/counters_reason.c src/ui.c src/ui_text.c src/ui_table.c src/ui_wrap.c
%C%_results_counters_LDADD = libtuner.la libbase.la -lm
TESTS += %D%/results_counters
check_PROGRAMS += %D%/stop_when
%C%_stop_when_SOURCES = %D%/stop_when.c src/stop_when.c src/stop_when.h tests/tuner/space_help.h
%C%_stop_when_LDADD = libtuner.la libbase.la $(JANSSON_LIBS) -lm
TESTS += %D%/stop_when
check_PROGRAMS += %D%/explain_words
%C%_explain_words_SOURCES = %D%/explain_words.c src/explain_words.c src/explain_probe.h
%C%_explain_words_LDADD = libtuner.la libbase.la $(JANSSON_LIBS) -lm
TESTS += %D%/explain_words
