# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/ceilings.c %D%/ceilings.h %D%/ceilings_file.c %D%/ceilings_plan.c
