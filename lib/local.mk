# SPDX-License-Identifier: GPL-3.0-or-later
# libsweetspot: what programs link. Shared (unless configured without), where it shows what the map says, and static.
# The look-up is a convenience library as well, because the tuner answers with it.
LIB_LOOKUP = %D%/profile/profile_impl.h %D%/profile/lookup.h %D%/profile/lookup.c %D%/profile/read.c
noinst_LTLIBRARIES += libprofile.la
# So does the ring of programs that choose inside their runs, which the tuner makes.
libprofile_la_SOURCES = $(LIB_LOOKUP) %D%/inside/format.h %D%/inside/inside_ring.c %D%/inside/inside_text.c
libprofile_la_LIBADD = $(JANSSON_LIBS) -lm
# Choices inside a run, for every library that sees some.
LIB_INSIDE = %D%/inside/format.h %D%/inside/inside.h %D%/inside/inside_impl.h \
	%D%/inside/context.c %D%/inside/declare.c %D%/inside/inside_ring.c %D%/inside/inside_text.c \
	%D%/inside/learn_impl.h %D%/inside/learn.c %D%/inside/joint.c
LIB_SOURCES = $(LIB_LOOKUP) %D%/api.c %D%/state.c %D%/marks/marks.c %D%/marks/marks.h \
	%D%/marks/marks_write.c \
	%D%/profile/machine.c %D%/profile/inside_profile.c %D%/profile/open.c $(LIB_INSIDE) \
	%D%/kernel/kernel.c %D%/kernel/kernel_impl.h
LIB_CPPFLAGS = $(AM_CPPFLAGS) -DSSP_SYSCONFDIR='"$(sysconfdir)"' -DSSK_LIBEXECDIR='"$(pkglibexecdir)"'
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
include_HEADERS = %D%/sweetspot.h %D%/sweetspot.hpp
strategyincludedir = $(includedir)/sweetspot
strategyinclude_HEADERS = %D%/strategy.h
# The Fortran module is installed as a source, beside the headers.
include_HEADERS += %D%/sweetspot.f90
# LIKWID's marker API, out of the way of LIKWID's own headers.
likwidincludedir = $(includedir)/sweetspot
likwidinclude_HEADERS = %D%/likwid/likwid-marker.h %D%/likwid/likwid.h %D%/likwid/likwid.f90
cmakedir = $(libdir)/cmake/sweetspot
nodist_cmake_DATA = %D%/cmake/sweetspotConfig.cmake %D%/cmake/sweetspotConfigVersion.cmake
