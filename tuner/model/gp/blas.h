/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenBLAS for GSL, loaded when it is needed. */
#ifndef TUNER_MODEL_GP_BLAS_H
#define TUNER_MODEL_GP_BLAS_H

/* Chooses between OpenBLAS and GSL's own functions, at the first call. */
void blas_load(void);

#endif
