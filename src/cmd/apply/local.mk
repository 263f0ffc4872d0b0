# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/apply.h %D%/built.c %D%/choose.c %D%/describe.c
