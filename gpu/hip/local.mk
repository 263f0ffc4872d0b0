# SPDX-License-Identifier: BSD-3-Clause
libgpu_la_SOURCES += %D%/abi.h %D%/library.h %D%/library.c %D%/open.h %D%/open.c
