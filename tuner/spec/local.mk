# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/spec.c %D%/spec.h
include %D%/c/local.mk
include %D%/cuda/local.mk
