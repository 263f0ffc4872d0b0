# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/gpu.h %D%/run.c %D%/run.h
