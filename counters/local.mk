# SPDX-License-Identifier: BSD-3-Clause
# A counter backend is one file and one line here; the line is also its registry entry.
COUNTERS = \
	%D%/papi.c \
	%D%/papi_sde.c \
	%D%/perf.c \
	%D%/rusage.c \
	%D%/kernel_events.c \
	%D%/fake.c

noinst_LTLIBRARIES += libcounters.la
libcounters_la_SOURCES = $(COUNTERS) %D%/registry.c %D%/counter.h \
	%D%/plan.c %D%/plan.h \
	%D%/metric.c \
	%D%/selftest.c %D%/selftest.h \
	%D%/loop.c %D%/loop.h \
	%D%/cpu.c %D%/cpu.h \
	%D%/perf_event.c %D%/perf_event.h \
	%D%/software.c %D%/software.h \
	%D%/papi_library.h %D%/papi_probe.h %D%/papi_word.h %D%/papi_counting.h %D%/sde_book.h
libcounters_la_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS)
libcounters_la_LIBADD = $(PAPI_LIBS) $(SDE_LIBS)
if HAVE_PAPI
libcounters_la_SOURCES += %D%/papi_library.c %D%/papi_probe.c %D%/papi_word.c %D%/papi_counting.c
else
libcounters_la_SOURCES += %D%/papi_absent.c
endif
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
