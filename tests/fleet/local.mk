# SPDX-License-Identifier: GPL-3.0-or-later
FLEET_TESTS = %D%/launchers %D%/slurm_words %D%/pool_workers %D%/pool_killed
check_PROGRAMS += $(FLEET_TESTS)
%C%_launchers_SOURCES = %D%/launchers.c
%C%_launchers_LDADD = libtuner.la libbase.la
%C%_slurm_words_SOURCES = %D%/slurm_words.c
%C%_slurm_words_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
%C%_pool_workers_SOURCES = %D%/pool_workers.c %D%/rig.h
%C%_pool_workers_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
%C%_pool_killed_SOURCES = %D%/pool_killed.c %D%/rig.h
%C%_pool_killed_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
TESTS += $(FLEET_TESTS)
dist_check_SCRIPTS += %D%/options %D%/slurm %D%/slurm_ends %D%/slurm_killed %D%/types %D%/nodes
EXTRA_DIST += %D%/cluster.sh %D%/slurm_help.sh %D%/worker-fake %D%/slurm-fake
