# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/outcome.c %D%/result.h
