# SPDX-License-Identifier: BSD-3-Clause
# A variant is one file and one line.
libkernels_la_SOURCES += \
	%D%/serial.c \
	%D%/coarse.c \
	%D%/fine.c \
	%D%/optimistic.c \
	%D%/lazy.c \
	%D%/nonblocking.c \
	%D%/memory.c %D%/oracle.c \
	%D%/lists_impl.h %D%/list_impl.h %D%/pair_tile.h %D%/plain_impl.h %D%/spin_impl.h
libkernels_counted_la_SOURCES += \
	%D%/serial.c %D%/coarse.c %D%/fine.c %D%/optimistic.c %D%/lazy.c %D%/nonblocking.c
