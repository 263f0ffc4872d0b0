# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/source.h %D%/source_compile.c %D%/source_look.c %D%/source_text.c %D%/source_verify.c
