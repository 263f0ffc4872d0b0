# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/spec_cuda.c %D%/cuda.h %D%/impl.h %D%/cuda_read.c
