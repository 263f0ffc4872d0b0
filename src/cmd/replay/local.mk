# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/replay_impl.h %D%/replay_options.c
