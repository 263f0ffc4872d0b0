# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/abi
TESTS += %D%/abi
%C%_abi_SOURCES = %D%/abi.c
if SHARED
check_PROGRAMS += %D%/tool
TESTS += %D%/tool
%C%_tool_SOURCES = %D%/tool.c
%C%_tool_LDFLAGS = -Wl,--export-dynamic
%C%_tool_LDADD = -ldl -lm
endif
