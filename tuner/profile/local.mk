# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/entry.c \
 %D%/profile.c %D%/profile.h \
	%D%/select.c %D%/profile_sizes.c %D%/profile_impl.h %D%/profile_state.c

