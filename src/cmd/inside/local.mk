# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/inside_cmd.c %D%/inside_cmd.h
