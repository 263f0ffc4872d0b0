# SPDX-License-Identifier: BSD-3-Clause
# A counter backend is one file and one line here; the line is also its registry entry.
COUNTERS = \
	%D%/rusage.c \
	%D%/perf.c \
	%D%/fake.c

noinst_LTLIBRARIES += libcounters.la
libcounters_la_SOURCES = $(COUNTERS) %D%/registry.c %D%/counter.h \
	%D%/plan.c %D%/plan.h \
	%D%/metric.c \
	%D%/selftest.c %D%/selftest.h \
	%D%/loop.c %D%/loop.h \
	%D%/cpu.c %D%/cpu.h \
	%D%/perf_event.c %D%/perf_event.h \
	%D%/perf_names.c %D%/perf_names.h \
	%D%/perf_pmus.c %D%/perf_pmus.h \
	%D%/perf_reasons.c %D%/perf_reasons.h \
	%D%/perf_slots.c %D%/perf_slots.h \
	%D%/perf_value.c %D%/perf_value.h
nodist_libcounters_la_SOURCES = %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(COUNTERS); do f=$${f##*/}; echo "COUNTER($${f%.*})"; done >$@
