# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/fleet_impl.h %D%/losses.c \
	%D%/cmd_fleet_probe.c %D%/setup.c %D%/status.c %D%/types.c
