# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/stop_when
TESTS += %D%/stop_when
%C%_stop_when_SOURCES = %D%/stop_when.c tests/tuner/space/help.h
%C%_stop_when_LDADD = $(APP) $(JANSSON_LIBS) -lm
dist_check_SCRIPTS += %D%/spec %D%/tune %D%/sizes %D%/resume %D%/survive %D%/program %D%/mistakes %D%/ahead %D%/killed %D%/soak %D%/faults %D%/memory %D%/power %D%/promise %D%/cheats %D%/jobs %D%/services
slow_tests += %D%/spec %D%/tune %D%/sizes %D%/resume %D%/survive %D%/program %D%/mistakes %D%/ahead %D%/killed %D%/soak %D%/faults %D%/memory %D%/power %D%/promise %D%/cheats %D%/jobs %D%/services
EXTRA_DIST += %D%/trouble.py %D%/memory_shim.c
