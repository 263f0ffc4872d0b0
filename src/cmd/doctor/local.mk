# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/build.c %D%/doctor_counters.c %D%/doctor_impl.h %D%/gpu.c %D%/system.c
