# SPDX-License-Identifier: GPL-3.0-or-later
# A command is one file and one line here; the line is also its registry entry.
COMMANDS = \
	%D%/cmd/tune/cmd_tune.c \
	%D%/cmd/run/cmd_sweep.c \
	%D%/cmd/run/cmd_run.c \
	%D%/cmd/run/cmd_compare.c \
	%D%/cmd/replay/cmd_replay.c \
	%D%/cmd/replay/cmd_score.c \
	%D%/cmd/suggest/cmd_suggest.c \
	%D%/cmd/explain/cmd_explain.c \
	%D%/cmd/report/cmd_report.c \
	%D%/cmd/cmd_export.c \
	%D%/cmd/apply/cmd_apply.c \
	%D%/cmd/profile/cmd_profile.c \
	%D%/cmd/cmd_store.c \
	%D%/cmd/fleet/cmd_fleet.c \
	%D%/cmd/machine/cmd_machine.c \
	%D%/cmd/doctor/cmd_doctor.c \
	%D%/cmd/list/cmd_list.c

# The program without its main function, once for the program and for the tests of its parts.
noinst_LTLIBRARIES += libapp.la
libapp_la_SOURCES = $(COMMANDS) %D%/cmd/store_rows.c %D%/cmd/store_rows_impl.h
libapp_la_CPPFLAGS = $(AM_CPPFLAGS) -DSS_LIBEXECDIR='"$(pkglibexecdir)"'
APP = libapp.la libbuilt.la $(TUNER) libtopo.la libbase.la

bin_PROGRAMS += sweetspot
sweetspot_SOURCES = %D%/main.c %D%/registry.c
nodist_sweetspot_SOURCES = %D%/registry.def
sweetspot_LDFLAGS = $(AM_LDFLAGS) $(BUNDLE_RPATH)
sweetspot_LDADD = $(APP)
# libtool takes longer than the linker, and the build ends with these two.
sweetspot$(EXEEXT) sweetspot-worker$(EXEEXT): private LIBTOOL = $(SHELL) $(top_srcdir)/build-aux/libtool-fast
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(COMMANDS); do f=$${f##*/cmd_}; echo "COMMAND($${f%.*})"; done >$@

include %D%/app/local.mk
include %D%/ui/local.mk
include %D%/show/local.mk
include %D%/plan/local.mk
include %D%/cmd/apply/local.mk
include %D%/cmd/doctor/local.mk
include %D%/cmd/explain/local.mk
include %D%/cmd/fleet/local.mk
include %D%/cmd/gpu/local.mk
include %D%/cmd/inside/local.mk
include %D%/cmd/list/local.mk
include %D%/cmd/machine/local.mk
include %D%/cmd/profile/local.mk
include %D%/cmd/regions/local.mk
include %D%/cmd/replay/local.mk
include %D%/cmd/report/local.mk
include %D%/cmd/run/local.mk
include %D%/cmd/status/local.mk
include %D%/cmd/tune/local.mk
