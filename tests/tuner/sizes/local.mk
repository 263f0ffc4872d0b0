# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/sizes %D%/midpoint_race
slow_tests += %D%/sizes %D%/midpoint_race
%C%_sizes_SOURCES = %D%/sizes.c
%C%_sizes_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS) -lm
%C%_midpoint_race_SOURCES = %D%/midpoint_race.c
%C%_midpoint_race_LDADD = $(TUNER) libbase.la -lm
