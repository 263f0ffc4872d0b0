# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/example %D%/hostile
slow_tests += %D%/example %D%/hostile
EXTRA_DIST += %D%/bad.c

check_PROGRAMS += %D%/worker
%C%_worker_SOURCES = %D%/worker.c tests/worker/protocol_client.c tests/worker/protocol_client.h
%C%_worker_LDADD = libbase.la
TESTS += %D%/worker

check_PROGRAMS += %D%/spec_c %D%/spec_c_refused
%C%_spec_c_SOURCES = %D%/spec_c.c %D%/spec_c.h
%C%_spec_c_LDADD = $(TUNER) libbase.la
%C%_spec_c_refused_SOURCES = %D%/spec_c_refused.c %D%/spec_c.h
%C%_spec_c_refused_LDADD = $(TUNER) libbase.la
slow_tests += %D%/spec_c
TESTS += %D%/spec_c_refused
