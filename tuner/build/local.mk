# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/builder.c %D%/builder.h %D%/cache.c %D%/cache.h %D%/compile.c %D%/compile.h %D%/impl.h

