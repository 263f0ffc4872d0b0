# SPDX-License-Identifier: GPL-3.0-or-later
libbase_la_SOURCES += %D%/js.c %D%/js.h %D%/member.h
