# SPDX-License-Identifier: GPL-3.0-or-later
# libsweetspot: what programs link. Shared and static; neither shows more than the map says.
LIB_SOURCES = %D%/api.c %D%/regions.c %D%/regions.h %D%/state.c %D%/thread.c %D%/names.c %D%/events.c %D%/write.c
lib_LTLIBRARIES = libsweetspot.la
libsweetspot_la_SOURCES = $(LIB_SOURCES) %D%/sweetspot.h
libsweetspot_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -pthread
# nodelete: threads that outlive a dlclose end in it. -shared: libtool would make a static one of the same name.
libsweetspot_la_LDFLAGS = $(AM_LDFLAGS) -shared -no-undefined -version-info 0:0:0 -pthread \
	-Wl,--version-script=$(srcdir)/%D%/sweetspot.map -Wl,-z,nodelete
EXTRA_libsweetspot_la_DEPENDENCIES = %D%/sweetspot.map
EXTRA_DIST += %D%/sweetspot.map
ARFLAGS = cr
lib_LIBRARIES = libsweetspot.a
libsweetspot_a_SOURCES = $(LIB_SOURCES)
libsweetspot_a_CFLAGS = $(AM_CFLAGS) -fPIC -fvisibility=hidden -pthread
include_HEADERS = %D%/sweetspot.h
