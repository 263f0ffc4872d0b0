# SPDX-License-Identifier: BSD-3-Clause
# A counter backend is one file and one line here; the line is also its registry entry.
COUNTERS = \
	%D%/papi.c \
	%D%/papi_sde.c \
	%D%/perf.c \
	%D%/rusage.c \
	%D%/kernel_events.c \
	%D%/rapl.c \
	%D%/cachegrind.c \
	%D%/cupti.c \
	%D%/cupti_activity.c \
	%D%/fake.c

# What is asked for becomes a plan: knows no backend, so that tests can bring their own.
noinst_LTLIBRARIES += libcounterplan.la
libcounterplan_la_SOURCES = %D%/plan.c %D%/plan.h %D%/plan_build.h \
	%D%/plan_event.c %D%/plan_group.c %D%/plan_resolve.c \
	%D%/metric.c \
	%D%/loop.c %D%/loop.h \
	%D%/tables.c %D%/tables.h \
	%D%/tables_check.c %D%/tables_events.c %D%/tables_groups.c %D%/tables_json.c %D%/tables_member.c

noinst_LTLIBRARIES += libcounters.la
libcounters_la_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS) $(CUPTI_CPPFLAGS)
libcounters_la_LIBADD = libcounterplan.la libgpu.la $(PAPI_LIBS) $(SDE_LIBS)
libcounters_la_SOURCES = $(COUNTERS) %D%/registry.c %D%/counter.h \
	%D%/selftest.c %D%/selftest.h \
	%D%/cpu.c %D%/cpu.h \
	%D%/cachegrind.h \
	%D%/cupti.h %D%/cupti_chip.h %D%/cupti_config.h %D%/cupti_library.h \
	%D%/perf_event.c %D%/perf_event.h \
	%D%/perf_names.c %D%/perf_names.h \
	%D%/perf_pmus.c %D%/perf_pmus.h \
	%D%/perf_reasons.c %D%/perf_reasons.h \
	%D%/perf_slots.c %D%/perf_slots.h \
	%D%/perf_value.c %D%/perf_value.h \
	%D%/rapl_powercap.c %D%/rapl_power.c %D%/rapl_meter.c %D%/rapl_meter.h \
	%D%/software.c %D%/software.h \
	%D%/papi_library.h %D%/papi_probe.h %D%/papi_word.h %D%/papi_counting.h %D%/sde_book.h
if HAVE_PAPI
libcounters_la_SOURCES += %D%/papi_library.c %D%/papi_probe.c %D%/papi_word.c %D%/papi_counting.c
else
libcounters_la_SOURCES += %D%/papi_absent.c
endif
if HAVE_CUPTI
libcounters_la_SOURCES += %D%/cupti_library.c %D%/cupti_probe.c %D%/cupti_config.c %D%/cupti_chip.c %D%/cupti_list.c \
	%D%/cupti_range.c %D%/cupti_records.c
else
libcounters_la_SOURCES += %D%/cupti_absent.c
endif
EXTRA_DIST += %D%/compat/string
if HAVE_SDE
libcounters_la_SOURCES += %D%/sde_book.c
else
libcounters_la_SOURCES += %D%/sde_absent.c
endif
nodist_libcounters_la_SOURCES = %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(COUNTERS); do f=$${f##*/}; echo "COUNTER($${f%.*})"; done >$@
