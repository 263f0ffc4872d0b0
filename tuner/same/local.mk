# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/line_same.c %D%/line_same.h %D%/same.c %D%/same.h %D%/text_same.c %D%/text_same.h
