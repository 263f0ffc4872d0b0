# SPDX-License-Identifier: BSD-3-Clause
# A variant is one file and one line.
libkernels_la_SOURCES += \
	%D%/serial.c \
	%D%/coarse.c \
	%D%/fine.c \
	%D%/optimistic.c \
	%D%/lazy.c \
	%D%/nonblocking.c \
	%D%/memory.c %D%/epochs.c %D%/input.c %D%/oracle.c %D%/figures.c \
	%D%/lists.h %D%/list.h %D%/plain.h %D%/spin.h %D%/poison.h
libkernels_counted_la_SOURCES += \
	%D%/serial.c %D%/coarse.c %D%/fine.c %D%/optimistic.c %D%/lazy.c %D%/nonblocking.c
