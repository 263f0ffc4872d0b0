# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/machine.c %D%/next.c %D%/state.c %D%/state.h %D%/store.c %D%/text.c
