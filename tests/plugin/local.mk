# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/example %D%/hostile
slow_tests += %D%/example %D%/hostile
EXTRA_DIST += %D%/bad.c

check_PROGRAMS += %D%/worker
%C%_worker_SOURCES = %D%/worker.c tests/worker/protocol_client.c tests/worker/protocol_client.h
%C%_worker_LDADD = libbase.la
TESTS += %D%/worker

check_PROGRAMS += %D%/spec_c
%C%_spec_c_SOURCES = %D%/spec_c.c
%C%_spec_c_LDADD = libtuner.la libbase.la
slow_tests += %D%/spec_c
