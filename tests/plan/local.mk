# SPDX-License-Identifier: GPL-3.0-or-later
# For all tests here.
check_LTLIBRARIES += libplan.la
libplan_la_SOURCES = %D%/help.c %D%/help.h
PLAN_LIBS = libplan.la $(APP) -lm

PROGRAM_TESTS = %D%/hints %D%/kokkos %D%/inspect %D%/elf %D%/plan %D%/plan_space %D%/baseline %D%/variables %D%/narrow
check_PROGRAMS += $(PROGRAM_TESTS)
TESTS += $(PROGRAM_TESTS)
%C%_hints_SOURCES = %D%/hints.c tests/tuner/space/help.h
%C%_hints_LDADD = $(PLAN_LIBS)
%C%_kokkos_SOURCES = %D%/kokkos.c
%C%_kokkos_LDADD = $(PLAN_LIBS)
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
%C%_narrow_SOURCES = %D%/narrow.c
%C%_narrow_LDADD = $(APP) -lm
%C%_variables_SOURCES = %D%/variables.c
%C%_variables_LDADD = $(TUNER) libbase.la
check_PROGRAMS += %D%/program_spec
TESTS += %D%/program_spec
%C%_program_spec_SOURCES = %D%/program_spec.c
%C%_program_spec_LDADD = $(APP) $(JANSSON_LIBS)
