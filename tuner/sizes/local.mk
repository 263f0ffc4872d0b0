# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/candidates.c %D%/explore.c %D%/impl.h %D%/json.c %D%/merge.c %D%/midpoint_race.c \
	%D%/midpoint_race_read.c %D%/midpoints.c %D%/midpoints_read.c %D%/next.c %D%/ratios.c %D%/rounds.c \
	%D%/sizes.c %D%/sizes.h %D%/stations.c %D%/stations.h %D%/store.c
