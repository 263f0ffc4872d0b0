# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/cache %D%/builder
TESTS += %D%/cache %D%/builder
%C%_cache_SOURCES = %D%/cache.c
%C%_cache_LDADD = $(TUNER) libbase.la
%C%_builder_SOURCES = %D%/builder.c
%C%_builder_LDADD = $(TUNER) libbase.la
