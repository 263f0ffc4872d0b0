# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/same.c %D%/same.h %D%/text_same.c %D%/text_same_impl.h
