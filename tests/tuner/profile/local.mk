# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/profile %D%/merge %D%/select %D%/hostile
TESTS += %D%/profile %D%/merge %D%/select %D%/hostile
%C%_profile_SOURCES = %D%/profile.c
%C%_profile_LDADD = libtuner.la libbase.la
%C%_merge_SOURCES = %D%/merge.c %D%/made.h
%C%_merge_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
%C%_select_SOURCES = %D%/select.c %D%/made.h
%C%_select_LDADD = libtuner.la $(LIBSWEETSPOT_INSIDE)
%C%_hostile_SOURCES = %D%/hostile.c %D%/fuzz_verbs.c %D%/made.h
%C%_hostile_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
EXTRA_DIST += %D%/fuzz_profile.c
