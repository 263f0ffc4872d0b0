# SPDX-License-Identifier: GPL-3.0-or-later
UI_SOURCES = %D%/fold.c %D%/ui_table.c %D%/ui.c %D%/ui.h %D%/wrap.c
libapp_la_SOURCES += $(UI_SOURCES)
