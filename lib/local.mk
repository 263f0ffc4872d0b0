# SPDX-License-Identifier: GPL-3.0-or-later
# libsweetspot: what programs link. Shared (unless configured without), where it shows what the map says, and static.
LIB_SOURCES = %D%/api.c %D%/regions.c %D%/regions.h %D%/state.c %D%/thread.c %D%/names.c %D%/events.c %D%/write.c \
	%D%/profile.h %D%/profile_apply.c %D%/profile_arena.c %D%/profile_arena.h %D%/profile_config.c %D%/profile_differs.c \
	%D%/profile_files.c %D%/profile_index.c %D%/profile_key.c %D%/profile_load.c %D%/profile_lookup.c %D%/profile_machine.c \
	%D%/profile_machine.h %D%/profile_open.c %D%/profile_read.c %D%/profile_settings.c %D%/profile_settings.h \
	%D%/profile_sizes.c
LIB_CPPFLAGS = $(AM_CPPFLAGS) -DSSP_SYSCONFDIR='"$(sysconfdir)"'
if SHARED
lib_LTLIBRARIES = libsweetspot.la
LIBSWEETSPOT = libsweetspot.la
else
LIBSWEETSPOT = libsweetspot.a
endif
libsweetspot_la_SOURCES = $(LIB_SOURCES) %D%/sweetspot.h
libsweetspot_la_LIBADD = $(JANSSON_LIBS) -lm
libsweetspot_la_CPPFLAGS = $(LIB_CPPFLAGS)
libsweetspot_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -pthread
# nodelete: threads that outlive a dlclose end in it. -shared: libtool would make a static one of the same name.
libsweetspot_la_LDFLAGS = $(AM_LDFLAGS) -shared -no-undefined -version-info 1:0:1 -pthread \
	-Wl,--version-script=$(srcdir)/%D%/sweetspot.map -Wl,-z,nodelete
EXTRA_libsweetspot_la_DEPENDENCIES = %D%/sweetspot.map
EXTRA_DIST += %D%/sweetspot.map
ARFLAGS = cr
lib_LIBRARIES = libsweetspot.a
libsweetspot_a_SOURCES = $(LIB_SOURCES)
libsweetspot_a_CPPFLAGS = $(LIB_CPPFLAGS)
libsweetspot_a_CFLAGS = $(AM_CFLAGS) -fPIC -fvisibility=hidden -pthread
include_HEADERS = %D%/sweetspot.h
