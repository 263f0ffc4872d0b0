# SPDX-License-Identifier: BSD-3-Clause
libgpu_la_SOURCES += %D%/abi.h %D%/library.h %D%/opencl.h %D%/impl.h \
	%D%/library.c \
	%D%/open.h %D%/backend.c \
	%D%/facts.c \
	%D%/device.c \
	%D%/memory.c \
	%D%/program.c \
	%D%/launch.c
