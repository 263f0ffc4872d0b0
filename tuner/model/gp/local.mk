# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/blas.c %D%/blas.h %D%/dim.c %D%/fit.c %D%/gp.c %D%/gp.h %D%/groups.c %D%/impl.h %D%/kernel.c %D%/pool.c %D%/predict.c %D%/problem.c
