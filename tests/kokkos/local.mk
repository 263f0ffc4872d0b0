# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/abi
TESTS += %D%/abi
%C%_abi_SOURCES = %D%/abi.c
dist_check_SCRIPTS += %D%/commands
if SHARED
check_PROGRAMS += %D%/player %D%/tool
TESTS += %D%/tool
slow_tests += %D%/commands
%C%_player_SOURCES = %D%/player.c
%C%_player_LDFLAGS = -Wl,--export-dynamic
%C%_player_LDADD = -ldl -lm
%C%_tool_SOURCES = %D%/tool.c
%C%_tool_LDFLAGS = -Wl,--export-dynamic
%C%_tool_LDADD = -ldl -lm
endif
