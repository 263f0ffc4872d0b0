# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/papi
%C%_papi_SOURCES = %D%/papi.c
%C%_papi_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_papi_LDADD = libcounters.la libbase.la
TESTS += %D%/papi

if HAVE_SDE
check_PROGRAMS += %D%/sde
%C%_sde_SOURCES = %D%/sde.c
%C%_sde_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS)
%C%_sde_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_sde_LDADD = libcounters.la libbase.la $(SDE_LIBS) $(PAPI_LIBS)
TESTS += %D%/sde
endif

check_PROGRAMS += %D%/perf_denied
%C%_perf_denied_SOURCES = %D%/perf_denied.c

# Preloaded by papi_shim.
check_LTLIBRARIES += %D%/pfmshim.la
%C%_pfmshim_la_SOURCES = %D%/pfmshim.c
%C%_pfmshim_la_LDFLAGS = -module -avoid-version -rpath $(abs_builddir)/%D%
dist_check_SCRIPTS += %D%/papi_shim
TESTS += %D%/papi_shim

dist_check_SCRIPTS += %D%/sde_run
TESTS += %D%/sde_run
EXTRA_DIST += %D%/sde_plugin.c
check_PROGRAMS += %D%/selftest
%C%_selftest_SOURCES = %D%/selftest.c
%C%_selftest_LDADD = libcounters.la libbase.la
TESTS += %D%/selftest
dist_check_SCRIPTS += %D%/known_work
slow_tests += %D%/known_work
check_PROGRAMS += %D%/perf
%C%_perf_SOURCES = %D%/perf.c %D%/perf_help.h
%C%_perf_LDADD = libcounters.la libbase.la -lpthread
TESTS += %D%/perf

check_PROGRAMS += %D%/perf_events
%C%_perf_events_SOURCES = %D%/perf_events.c %D%/perf_help.h
%C%_perf_events_LDADD = libcounters.la libbase.la -lpthread
TESTS += %D%/perf_events

check_PROGRAMS += %D%/perf_topdown
%C%_perf_topdown_SOURCES = %D%/perf_topdown.c
%C%_perf_topdown_LDADD = libcounters.la libbase.la
TESTS += %D%/perf_topdown

check_PROGRAMS += %D%/perf_rights
%C%_perf_rights_SOURCES = %D%/perf_rights.c %D%/perf_help.h
%C%_perf_rights_LDADD = libcounters.la libbase.la
TESTS += %D%/perf_rights

check_PROGRAMS += %D%/perf_programs
%C%_perf_programs_SOURCES = %D%/perf_programs.c tests/worker/protocol_client.c
%C%_perf_programs_LDADD = libbase.la
slow_tests += %D%/perf_programs
# These bring backends of their own, which answer as recorded machines do.
counter_plan_tests = %D%/definitions %D%/plan %D%/plan_words %D%/presets %D%/processors %D%/tables %D%/tables_fuzz
check_PROGRAMS += $(counter_plan_tests)
TESTS += $(counter_plan_tests)
%C%_plan_SOURCES = %D%/plan.c %D%/machine.c %D%/machine.h
%C%_plan_LDADD = libcounterplan.la libbase.la
%C%_plan_words_SOURCES = %D%/plan_words.c %D%/machine.c %D%/machine.h
%C%_plan_words_LDADD = libcounterplan.la libbase.la
%C%_presets_SOURCES = %D%/presets.c %D%/machine.c %D%/machine.h
%C%_presets_LDADD = libcounterplan.la libbase.la
%C%_processors_SOURCES = %D%/processors.c %D%/machine.c %D%/machine.h
%C%_processors_LDADD = libcounterplan.la libbase.la
%C%_definitions_SOURCES = %D%/definitions.c %D%/machine.c %D%/machine.h
%C%_definitions_LDADD = libcounterplan.la libbase.la
EXTRA_DIST += %D%/definitions.tsv %D%/presets.tsv %D%/presets-extract
%C%_tables_SOURCES = %D%/tables.c %D%/folder.c %D%/folder.h %D%/machine.c %D%/machine.h
%C%_tables_LDADD = libcounterplan.la libbase.la
%C%_tables_fuzz_SOURCES = %D%/tables_fuzz.c %D%/fuzz_tables.c %D%/folder.c %D%/folder.h %D%/machine.c %D%/machine.h
%C%_tables_fuzz_LDADD = libcounterplan.la libbase.la
EXTRA_DIST += %D%/seeds
fuzz_targets += %D%/fuzz_tables
%C%_fuzz_tables_SOURCES = %D%/fuzz_tables.c %D%/folder.c %D%/folder.h %D%/machine.c %D%/machine.h tests/fuzz_json.c
%C%_fuzz_tables_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_tables_LDADD = $(%C%_tables_fuzz_LDADD)

EXTRA_DIST += \
	%D%/machines/grace.json \
	%D%/machines/icelake-x.json \
	%D%/machines/neoverse-n1.json \
	%D%/machines/paranoid.json \
	%D%/machines/qemu-a57.json \
	%D%/machines/sapphirerapids.json \
	%D%/machines/skylake-x.json \
	%D%/machines/vm.json \
	%D%/machines/zen2.json \
	%D%/machines/zen3.json \
	%D%/machines/zen4-filtered.json \
	%D%/machines/zen4.json
# The worker in an emulated machine that has a PMU.
dist_check_SCRIPTS += %D%/guest
slow_tests += %D%/guest
check_PROGRAMS += %D%/guest_replies
%C%_guest_replies_SOURCES = %D%/guest_replies.c %D%/guest_loop.h \
	%D%/guest_console.c %D%/guest_console.h
%C%_guest_replies_LDADD = libbase.la
EXTRA_DIST += %D%/guest_packages %D%/guest_image %D%/guest_archive %D%/guest_init %D%/guest_levels %D%/guest_requests \
	%D%/guest_kernel.c %D%/guest_program.c

# What the guest needs of a build for its own architecture.
.PHONY: worker-only guest-clean
worker-only: $(BUILT_SOURCES)
	$(MAKE) $(AM_MAKEFLAGS) sweetspot-worker$(EXEEXT)
guest-clean:
	rm -rf %D%/guest-machine
clean-local: guest-clean
check_PROGRAMS += %D%/uncore
%C%_uncore_SOURCES = %D%/uncore.c
%C%_uncore_LDADD = libcounters.la libbase.la
TESTS += %D%/uncore

check_PROGRAMS += %D%/rapl
%C%_rapl_SOURCES = %D%/rapl.c
%C%_rapl_LDADD = libcounters.la libbase.la -lpthread
TESTS += %D%/rapl

check_PROGRAMS += %D%/rusage
%C%_rusage_SOURCES = %D%/rusage.c
%C%_rusage_LDADD = libcounters.la libbase.la
TESTS += %D%/rusage

check_PROGRAMS += %D%/simulate_file
%C%_simulate_file_SOURCES = %D%/simulate_file.c
%C%_simulate_file_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_simulate_file_LDADD = libworker.la libcounters.la libtopo.la libbase.la
TESTS += %D%/simulate_file

dist_check_SCRIPTS += %D%/simulate
slow_tests += %D%/simulate

check_PROGRAMS += %D%/simulate_app %D%/simulate_program
%C%_simulate_app_SOURCES = %D%/simulate_app.c
%C%_simulate_program_SOURCES = %D%/simulate_program.c tests/worker/protocol_client.c
%C%_simulate_program_LDADD = libbase.la
slow_tests += %D%/simulate_program
