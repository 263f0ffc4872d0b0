# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/build.c %D%/counters.c %D%/doctor.h %D%/gpu.c %D%/system.c
