# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/call.c %D%/call.h %D%/compile.c %D%/compile.h %D%/crash.c %D%/crash.h %D%/device.c %D%/device.h \
	%D%/library.c %D%/library.h %D%/library_check.c %D%/lines.c %D%/lines.h %D%/live.c %D%/live.h %D%/param.c \
	%D%/member.c %D%/member.h %D%/param.h %D%/state.c %D%/state.h %D%/team.c %D%/team.h %D%/word.c %D%/word.h
