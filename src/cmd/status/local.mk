# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/status_state.c %D%/status_state.h %D%/status_text.c
