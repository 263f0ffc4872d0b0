# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/options %D%/slurm %D%/slurm_ends %D%/slurm_mpi %D%/slurm_killed %D%/types %D%/nodes %D%/prolog %D%/ssh %D%/flux
slow_tests += %D%/options
slow_tests += %D%/types
waiting_tests += %D%/slurm %D%/slurm_ends %D%/slurm_mpi
slurm_tests += %D%/slurm_killed %D%/nodes %D%/prolog %D%/ssh %D%/flux
EXTRA_DIST += %D%/cluster.sh %D%/slurm_help.sh %D%/gate %D%/worker-fake %D%/slurm-fake
