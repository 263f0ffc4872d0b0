# SPDX-License-Identifier: BSD-3-Clause
# A counter backend is one file and one line here; the line is also its registry entry.
COUNTERS = \
	%D%/papi.c \
	%D%/papi_sde.c \
	%D%/perf.c \
	%D%/rusage.c \
	%D%/kernel_events.c \
	%D%/rapl.c \
	%D%/uncore.c \
	%D%/cachegrind.c \
	%D%/cupti.c \
	%D%/cupti_activity.c \
	%D%/cupti_functions.c \
	%D%/cupti_lines.c \
	%D%/fake.c

# Turns user requests into a plan. It does not know any backend, so that tests can bring their own.
noinst_LTLIBRARIES += libcounterplan.la
libcounterplan_la_SOURCES = %D%/plan/counter_plan.c %D%/plan/elsewhere.c %D%/plan/plan.h %D%/plan/plan_impl.h %D%/plan/resolve.c %D%/plan/rocprofiler.c %D%/plan/known_work.c \
	%D%/plan/tables.c %D%/plan/tables_read.c

noinst_LTLIBRARIES += libcounters.la
libcounters_la_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS) $(CUPTI_CPPFLAGS)
libcounters_la_LIBADD = libcounterplan.la libgpu.la $(PAPI_LIBS) $(SDE_LIBS)
libcounters_la_SOURCES = $(COUNTERS) %D%/registry.c %D%/backend/counter.h %D%/selftest.c %D%/selftest.h %D%/backend/counter.c \
	%D%/cachegrind.h %D%/cupti/cupti.h %D%/cupti/cupti_impl.h %D%/perf/perf_event.c %D%/perf/perf.h \
	%D%/perf/slots.c %D%/rapl/meter.c %D%/rapl/meter.h %D%/papi/papi.h
if HAVE_PAPI
libcounters_la_SOURCES += %D%/papi/papi_counting.c
else
libcounters_la_SOURCES += %D%/papi/papi_absent.c
endif
if HAVE_CUPTI
libcounters_la_SOURCES += %D%/cupti/cupti_library.c %D%/cupti/chip.c %D%/cupti/lines.c %D%/cupti/range.c
else
libcounters_la_SOURCES += %D%/cupti/cupti_absent.c
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
