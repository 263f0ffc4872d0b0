# SPDX-License-Identifier: GPL-3.0-or-later
# A format is one file and one line here; the line is also its registry entry.
EXPORTS = \
	%D%/export_json.c \
	%D%/export_env.c \
	%D%/export_script.c \
	%D%/export_c.c \
	%D%/export_cmake.c \
	%D%/export_make.c \
	%D%/export_slurm.c \
	%D%/export_pbs.c \
	%D%/export_flux.c \
	%D%/export_modulefile.c \
	%D%/export_modulefile_tcl.c \
	%D%/export_taskset.c \
	%D%/export_numactl.c \
	%D%/export_likwid.c \
	%D%/export_csv.c \
	%D%/export_kt.c \
	%D%/export_t4.c \
	%D%/export_ktt.c

libtuner_la_SOURCES += $(EXPORTS) %D%/registry.c %D%/export.h \
	%D%/export_text.c %D%/export_impl.h %D%/shell.c
nodist_libtuner_la_SOURCES += %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(EXPORTS); do f=$${f##*/export_}; echo "EXPORT($${f%.*})"; done >$@
