# SPDX-License-Identifier: GPL-3.0-or-later
sweetspot_SOURCES += %D%/build.c %D%/counters.c %D%/doctor.h %D%/gpu.c %D%/system.c
