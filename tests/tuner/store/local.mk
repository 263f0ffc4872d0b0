# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/store %D%/damage %D%/limits %D%/killed %D%/sizes %D%/merge
TESTS += %D%/store %D%/damage %D%/limits %D%/killed %D%/sizes %D%/merge
%C%_store_SOURCES = %D%/store.c
%C%_store_LDADD = libtuner.la libbase.la $(SQLITE_LIBS)
%C%_damage_SOURCES = %D%/damage.c
%C%_damage_LDADD = libtuner.la libbase.la $(SQLITE_LIBS)
%C%_limits_SOURCES = %D%/limits.c
%C%_limits_LDADD = libtuner.la libbase.la
%C%_killed_SOURCES = %D%/killed.c
%C%_killed_LDADD = libtuner.la libbase.la $(SQLITE_LIBS)
%C%_sizes_SOURCES = %D%/sizes.c
%C%_sizes_LDADD = libtuner.la libbase.la $(JANSSON_LIBS) -lm
%C%_merge_SOURCES = %D%/merge.c
%C%_merge_LDADD = libtuner.la libbase.la $(SQLITE_LIBS)
EXTRA_DIST += %D%/fixture.h
