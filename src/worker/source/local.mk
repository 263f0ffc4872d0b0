# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/compare.c %D%/compile.c %D%/input.c %D%/kernel.c %D%/parts.c %D%/setup.c %D%/source.h %D%/text.c %D%/values.c \
	%D%/verify.c
