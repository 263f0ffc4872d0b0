# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/counters.c %D%/counters.h %D%/params.c %D%/params.h
