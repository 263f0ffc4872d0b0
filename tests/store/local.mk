# SPDX-License-Identifier: GPL-3.0-or-later
STORE_TESTS = %D%/store %D%/damage %D%/limits %D%/killed %D%/profile %D%/export %D%/export_build %D%/export_site %D%/sizes \
	%D%/merge %D%/profile_merge %D%/profile_select %D%/profile_hostile
check_PROGRAMS += $(STORE_TESTS)
%C%_store_SOURCES = %D%/store.c
%C%_store_LDADD = libtuner.la libbase.la $(SQLITE_LIBS)
%C%_merge_SOURCES = %D%/merge.c
%C%_merge_LDADD = libtuner.la libbase.la $(SQLITE_LIBS)
%C%_damage_SOURCES = %D%/damage.c
%C%_damage_LDADD = libtuner.la libbase.la $(SQLITE_LIBS)
%C%_limits_SOURCES = %D%/limits.c
%C%_limits_LDADD = libtuner.la libbase.la
%C%_killed_SOURCES = %D%/killed.c
%C%_killed_LDADD = libtuner.la libbase.la $(SQLITE_LIBS)
%C%_profile_SOURCES = %D%/profile.c
%C%_profile_LDADD = libtuner.la libbase.la
%C%_export_SOURCES = %D%/export.c
%C%_export_LDADD = libtuner.la libbase.la
%C%_export_build_SOURCES = %D%/export_build.c
%C%_export_build_LDADD = libtuner.la libbase.la
%C%_export_site_SOURCES = %D%/export_site.c
%C%_export_site_LDADD = libtuner.la libbase.la
%C%_sizes_SOURCES = %D%/sizes.c
%C%_sizes_LDADD = libtuner.la libbase.la $(JANSSON_LIBS) -lm
%C%_profile_merge_SOURCES = %D%/profile_merge.c %D%/profile_made.h
%C%_profile_merge_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
%C%_profile_select_SOURCES = %D%/profile_select.c %D%/profile_made.h
%C%_profile_select_LDADD = libtuner.la $(LIBSWEETSPOT_INSIDE)
%C%_profile_hostile_SOURCES = %D%/profile_hostile.c %D%/fuzz_profile_verbs.c %D%/profile_made.h
%C%_profile_hostile_LDADD = libtuner.la libbase.la $(JANSSON_LIBS)
TESTS += $(STORE_TESTS)
# fuzz_profile.c is built by hand: its first lines say how.
EXTRA_DIST += %D%/fixture.h %D%/export_help.h %D%/fuzz_profile.c
