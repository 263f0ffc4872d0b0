# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/call.c %D%/call.h %D%/compile.h %D%/crash.h %D%/device.h %D%/library.c %D%/library.h \
	%D%/lines.h %D%/member.h %D%/param.h %D%/state.c %D%/state.h %D%/team.c %D%/team.h %D%/word.c %D%/kernel_compile.c \
	%D%/word.h
