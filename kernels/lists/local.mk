# SPDX-License-Identifier: BSD-3-Clause
# Variants that share their walk are one file.
libkernels_la_SOURCES += %D%/plain.c %D%/fine.c %D%/optimistic.c %D%/lazy.c %D%/nonblocking.c %D%/memory.c %D%/list_impl.h %D%/pair_tile.h
libkernels_counted_la_SOURCES += %D%/plain.c %D%/fine.c %D%/optimistic.c %D%/lazy.c %D%/nonblocking.c
