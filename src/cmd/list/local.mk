# SPDX-License-Identifier: GPL-3.0-or-later
sweetspot_SOURCES += %D%/counters.c %D%/counters.h %D%/metrics.c %D%/metrics.h %D%/params.c %D%/params.h
