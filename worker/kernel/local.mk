# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/call.c %D%/call.h %D%/crash.h %D%/kernel_library.c \
 %D%/kernel_state.c %D%/state.h %D%/worker_device.c %D%/crash.c \
 %D%/word.h
