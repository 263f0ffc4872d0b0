# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/fleet_impl.h %D%/child.c %D%/losses.c \
	%D%/nodes.c %D%/cmd_fleet_probe.c %D%/setup.c %D%/cmd_fleet_state.c %D%/status.c %D%/types.c
