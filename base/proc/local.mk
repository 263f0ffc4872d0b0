# SPDX-License-Identifier: GPL-3.0-or-later
libbase_la_SOURCES += %D%/alone.c %D%/alone.h %D%/apart.c %D%/apart.h %D%/path.c %D%/path.h %D%/pipe.c %D%/pipe.h \
	%D%/power.c %D%/power.h %D%/proc.c %D%/proc.h %D%/reap.c %D%/reap.h %D%/serves.c %D%/serves.h %D%/work.c %D%/work.h
