# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/list_impl.h %D%/list_params.c
