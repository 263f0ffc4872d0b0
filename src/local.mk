# SPDX-License-Identifier: GPL-3.0-or-later
# A command is one file and one line here; the line is also its registry entry.
COMMANDS = \
	%D%/cmd/tune/tune.c \
	%D%/cmd/run/sweep.c \
	%D%/cmd/run/run.c \
	%D%/cmd/run/compare.c \
	%D%/cmd/replay/replay.c \
	%D%/cmd/replay/score.c \
	%D%/cmd/explain/explain.c \
	%D%/cmd/report/report.c \
	%D%/cmd/export.c \
	%D%/cmd/apply/apply.c \
	%D%/cmd/profile/profile.c \
	%D%/cmd/store.c \
	%D%/cmd/fleet/fleet.c \
	%D%/cmd/machine/machine.c \
	%D%/cmd/doctor/doctor.c \
	%D%/cmd/list/list.c

# The program without its main function, once for the program and for the tests of its parts.
noinst_LTLIBRARIES += libapp.la
libapp_la_SOURCES = $(COMMANDS) %D%/cmd/store_rows.c %D%/cmd/store_rows.h %D%/cmd/store_share.c %D%/cmd/store_share.h
libapp_la_CPPFLAGS = $(AM_CPPFLAGS) -DSS_LIBEXECDIR='"$(pkglibexecdir)"'
APP = libapp.la libbuilt.la $(TUNER) libtopo.la libbase.la

bin_PROGRAMS += sweetspot
sweetspot_SOURCES = %D%/main.c %D%/registry.c
nodist_sweetspot_SOURCES = %D%/registry.def
sweetspot_LDFLAGS = $(AM_LDFLAGS) $(BUNDLE_RPATH)
sweetspot_LDADD = $(APP)
# libtool takes longer than the linker, and the build ends with these two.
sweetspot$(EXEEXT) sweetspot-worker$(EXEEXT): private LIBTOOL = $(SHELL) $(top_srcdir)/build-aux/link-program
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(COMMANDS); do f=$${f##*/}; echo "COMMAND($${f%.*})"; done >$@

include %D%/app/local.mk
include %D%/ui/local.mk
include %D%/show/local.mk
include %D%/plan/local.mk
include %D%/cmd/apply/local.mk
include %D%/cmd/doctor/local.mk
include %D%/cmd/explain/local.mk
include %D%/cmd/fleet/local.mk
include %D%/cmd/gpu/local.mk
include %D%/cmd/list/local.mk
include %D%/cmd/machine/local.mk
include %D%/cmd/profile/local.mk
include %D%/cmd/regions/local.mk
include %D%/cmd/replay/local.mk
include %D%/cmd/report/local.mk
include %D%/cmd/run/local.mk
include %D%/cmd/status/local.mk
include %D%/cmd/tune/local.mk
