# SPDX-License-Identifier: GPL-3.0-or-later
# A worker with a kernel that misbehaves on a GPU.
check_PROGRAMS += %D%/faulty-worker
%C%_faulty_worker_SOURCES = %D%/faulty_worker.c
%C%_faulty_worker_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_faulty_worker_LDADD = libworker.la libgpu.la libcounters.la libtopo.la libbase.la
EXTRA_DIST += %D%/twin.cu
dist_check_SCRIPTS += %D%/no_gpu %D%/device
