# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/regions %D%/killed %D%/slurm %D%/strangers
slow_tests += %D%/regions %D%/strangers
slurm_tests += %D%/slurm
EXTRA_DIST += %D%/app.c %D%/strangers_app.c %D%/strangers.h %D%/strangers_code.c %D%/strangers_felt.c
check_PROGRAMS += %D%/cpus
TESTS += %D%/cpus %D%/killed
%C%_cpus_SOURCES = %D%/cpus.c lib/omp/cpus.c lib/omp/omp_count.c
%C%_cpus_LDADD = libbase.la
