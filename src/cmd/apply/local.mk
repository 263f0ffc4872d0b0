# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/apply_impl.h %D%/apply_built.c %D%/apply_describe.c %D%/apply_learn.c
