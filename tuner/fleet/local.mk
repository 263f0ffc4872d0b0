# SPDX-License-Identifier: GPL-3.0-or-later
# A launcher is one file and one line here; the line is also its registry entry.
LAUNCHERS = \
	%D%/launcher_local.c \
	%D%/launcher_gpus.c \
	%D%/launcher_slurm.c \
	%D%/launcher_flux.c \
	%D%/launcher_pbs.c \
	%D%/launcher_ssh.c

libtuner_la_SOURCES += $(LAUNCHERS) %D%/launched.c %D%/fleet_impl.h %D%/fleet.c %D%/fleet.h \
	%D%/launcher.h %D%/pool.h %D%/pool_node.c \
	%D%/pool_workers.c %D%/pool_workers.h \
	%D%/registry.c

nodist_libtuner_la_SOURCES += %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(LAUNCHERS); do f=$${f##*/launcher_}; echo "LAUNCHER($${f%.*})"; done >$@
