# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/cmd_profile_diff.c %D%/input.c %D%/input.h %D%/cmd_profile_select.c %D%/standing.c \
	%D%/cmd_profile_text.c %D%/cmd_profile_text.h %D%/profile_impl.h %D%/verify.c

