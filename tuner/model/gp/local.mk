# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/blas.c %D%/gp_fit.c %D%/gp.c %D%/gp.h %D%/impl.h %D%/gp_pool.c
