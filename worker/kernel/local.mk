# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/call.c %D%/call.h %D%/crash.h %D%/device.h %D%/kernel_library.c %D%/library.h \
	%D%/lines.h %D%/kernel_state.c %D%/state.h %D%/team.c %D%/worker_device.c %D%/crash.c %D%/team.h \
	%D%/word.c %D%/word.h
