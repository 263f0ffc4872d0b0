# SPDX-License-Identifier: GPL-3.0-or-later
# The program's own files that a plan needs, once for all tests.
check_LTLIBRARIES += libplan.la
libplan_la_SOURCES = src/app/app.c src/app/device.c src/app/plugin.c src/plan/params.c src/plan/params_words.c src/plan/plan.c src/plan/hints.c src/plan/bindings.c src/ui/fold.c src/ui/ui.c \
	$(PROGRAM_PLAN) %D%/help.c %D%/help.h
libplan_la_CPPFLAGS = $(sweetspot_CPPFLAGS)
PLAN_LIBS = libplan.la $(TUNER) libtopo.la libbase.la -lm

PROGRAM_TESTS = %D%/hints %D%/inspect %D%/elf %D%/plan %D%/plan_space %D%/baseline %D%/variables %D%/narrow
check_PROGRAMS += $(PROGRAM_TESTS)
TESTS += $(PROGRAM_TESTS)
%C%_hints_SOURCES = %D%/hints.c tests/tuner/space/help.h
%C%_hints_LDADD = $(PLAN_LIBS)
%C%_inspect_SOURCES = %D%/inspect.c
%C%_inspect_LDADD = $(PLAN_LIBS)
%C%_elf_SOURCES = %D%/elf.c
%C%_elf_LDADD = $(PLAN_LIBS)
%C%_plan_SOURCES = %D%/plan.c
%C%_plan_LDADD = $(PLAN_LIBS)
%C%_plan_space_SOURCES = %D%/plan_space.c
%C%_plan_space_LDADD = $(PLAN_LIBS)
%C%_baseline_SOURCES = %D%/baseline.c
%C%_baseline_LDADD = $(PLAN_LIBS)
%C%_narrow_SOURCES = %D%/narrow.c src/plan/narrow.c src/plan/narrow.h
%C%_narrow_LDADD = $(TUNER) libtopo.la libbase.la -lm
%C%_variables_SOURCES = %D%/variables.c
%C%_variables_LDADD = $(TUNER) libbase.la
check_PROGRAMS += %D%/program_spec
TESTS += %D%/program_spec
%C%_program_spec_SOURCES = %D%/program_spec.c src/plan/program_spec.c src/plan/program_spec.h src/plan/program_plan.h
%C%_program_spec_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
