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
	%D%/cupti_functions.c \
	%D%/fake.c

# Turns user requests into a plan. It does not know any backend, so that tests can bring their own.
noinst_LTLIBRARIES += libcounterplan.la
libcounterplan_la_SOURCES = %D%/plan/plan.c %D%/plan/plan.h %D%/plan/build.h \
	%D%/plan/event.c %D%/plan/group.c %D%/plan/resolve.c \
	%D%/plan/metric.c \
	%D%/plan/loop.c %D%/plan/loop.h \
	%D%/plan/tables.c %D%/plan/tables.h \
	%D%/plan/tables_check.c %D%/plan/tables_events.c %D%/plan/tables_groups.c %D%/plan/tables_json.c %D%/plan/tables_member.c

noinst_LTLIBRARIES += libcounters.la
libcounters_la_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS) $(CUPTI_CPPFLAGS)
libcounters_la_LIBADD = libcounterplan.la libgpu.la $(PAPI_LIBS) $(SDE_LIBS)
libcounters_la_SOURCES = $(COUNTERS) %D%/registry.c %D%/backend/counter.h \
	%D%/selftest.c %D%/selftest.h \
	%D%/backend/cpu.c %D%/backend/cpu.h \
	%D%/cachegrind.h \
	%D%/cupti/site.c \
	%D%/cupti/cupti.h %D%/cupti/chip.h %D%/cupti/config.h %D%/cupti/library.h \
	%D%/perf/event.c %D%/perf/event.h \
	%D%/perf/names.c %D%/perf/names.h \
	%D%/perf/pmus.c %D%/perf/pmus.h \
	%D%/perf/reasons.c %D%/perf/reasons.h \
	%D%/perf/slots.c %D%/perf/slots.h \
	%D%/perf/value.c %D%/perf/value.h \
	%D%/rapl/powercap.c %D%/rapl/power.c %D%/rapl/meter.c %D%/rapl/meter.h \
	%D%/backend/software.c %D%/backend/software.h \
	%D%/papi/library.h %D%/papi/probe.h %D%/papi/word.h %D%/papi/counting.h %D%/papi/sde_export.h
if HAVE_PAPI
libcounters_la_SOURCES += %D%/papi/library.c %D%/papi/probe.c %D%/papi/word.c %D%/papi/counting.c
else
libcounters_la_SOURCES += %D%/papi/absent.c
endif
if HAVE_CUPTI
libcounters_la_SOURCES += %D%/cupti/library.c %D%/cupti/probe.c %D%/cupti/config.c %D%/cupti/chip.c %D%/cupti/list.c \
	%D%/cupti/range.c %D%/cupti/records.c
else
libcounters_la_SOURCES += %D%/cupti/absent.c
endif
EXTRA_DIST += %D%/compat/string
if HAVE_SDE
libcounters_la_SOURCES += %D%/papi/sde_export.c
else
libcounters_la_SOURCES += %D%/papi/sde_absent.c
endif
nodist_libcounters_la_SOURCES = %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(COUNTERS); do f=$${f##*/}; echo "COUNTER($${f%.*})"; done >$@
