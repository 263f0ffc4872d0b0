# SPDX-License-Identifier: GPL-3.0-or-later
# A format is one file and one line here; the line is also its registry entry.
EXPORTS = \
	%D%/json.c \
	%D%/env.c \
	%D%/c.c \
	%D%/cmake.c \
	%D%/make.c \
	%D%/slurm.c \
	%D%/pbs.c \
	%D%/flux.c \
	%D%/modulefile.c \
	%D%/modulefile_tcl.c \
	%D%/taskset.c \
	%D%/numactl.c \
	%D%/likwid.c \
	%D%/csv.c \
	%D%/kt.c \
	%D%/t4.c \
	%D%/ktt.c

libtuner_la_SOURCES += $(EXPORTS) %D%/registry.c %D%/export.h %D%/trials.c %D%/trials.h \
	%D%/text.c %D%/text.h %D%/settings.c %D%/settings.h %D%/shell.c %D%/shell.h %D%/batch.c %D%/batch.h %D%/cpus.c %D%/cpus.h %D%/c_text.c %D%/c_text.h
nodist_libtuner_la_SOURCES += %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(EXPORTS); do f=$${f##*/}; echo "EXPORT($${f%.*})"; done >$@
