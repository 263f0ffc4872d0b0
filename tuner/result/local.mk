# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/outcome.c %D%/result.h %D%/speedup.c %D%/verdict.c %D%/worth.c
