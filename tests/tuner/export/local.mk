# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/export %D%/build %D%/site
TESTS += %D%/export %D%/build
slow_tests += %D%/site
%C%_export_SOURCES = %D%/export.c
%C%_export_LDADD = $(TUNER) libbase.la
%C%_build_SOURCES = %D%/build.c
%C%_build_LDADD = $(TUNER) libbase.la
%C%_site_SOURCES = %D%/site.c
%C%_site_LDADD = $(TUNER) libbase.la
EXTRA_DIST += %D%/help.h
