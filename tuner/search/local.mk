# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/registry.c %D%/strategy_search.c %D%/search.h %D%/strategy.h
