# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/cmd_profile_diff.c %D%/input.c %D%/input.h %D%/standing.c \
	%D%/profile_impl.h %D%/verify.c

