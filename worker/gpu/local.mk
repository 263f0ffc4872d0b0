# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/counts.c %D%/profiled_json.c %D%/profiled_read.c %D%/work.h
