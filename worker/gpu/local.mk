# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/busy.c %D%/counts.c %D%/gather.c %D%/json.c %D%/kernel.c %D%/read.c %D%/watch.c %D%/work.h %D%/work_impl.h
