# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/entry.c %D%/folder.c %D%/folder.h \
 %D%/entry.h %D%/profile.c %D%/profile.h %D%/profile_program.c %D%/profile_program.h \
	%D%/select.c %D%/select.h %D%/select_words.c %D%/profile_sizes.c %D%/profile_sizes_impl.h %D%/profile_state.c \
	%D%/profile_state.h %D%/profile_wisdom.c %D%/profile_wisdom_impl.h %D%/use.c %D%/use.h
