# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/gpu.h %D%/cmd_gpu_run.c
