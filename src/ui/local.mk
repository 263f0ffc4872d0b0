# SPDX-License-Identifier: GPL-3.0-or-later
UI_SOURCES = %D%/fold.c %D%/ui.c %D%/ui.h
libapp_la_SOURCES += $(UI_SOURCES)
