# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += %D%/json.sh
dist_check_SCRIPTS += %D%/usage %D%/spec %D%/handwork %D%/tune %D%/survive
check_PROGRAMS += %D%/program_spec
%C%_program_spec_SOURCES = %D%/program_spec.c src/program_spec.c src/program_spec.h src/program_plan.h
%C%_program_spec_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
TESTS += %D%/program_spec
