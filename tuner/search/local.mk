# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/leaders.h %D%/registry.c %D%/search.c %D%/search.h %D%/strategy.h
