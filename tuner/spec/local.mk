# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/impl.h %D%/loop.c %D%/slice.h %D%/spec.c %D%/spec.h %D%/values.c
include %D%/c/local.mk
include %D%/cuda/local.mk
