# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/state.c %D%/state.h %D%/text.c
