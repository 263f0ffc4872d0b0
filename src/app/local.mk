# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/app.c %D%/app.h %D%/cmd.h %D%/app_impl.h %D%/lock.c %D%/lock.h %D%/plugin.c

# Built with the worker's flags, because it reports them; its table of sources is that of the kernels.
noinst_LTLIBRARIES += libbuilt.la
libbuilt_la_SOURCES = %D%/built.c %D%/built.h
nodist_libbuilt_la_SOURCES = %D%/sources.def
libbuilt_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
BUILT_SOURCES += %D%/sources.def
CLEANFILES += %D%/sources.def
%D%/sources.def: kernels/registry.def
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp kernels/registry.def $@
