# SPDX-License-Identifier: BSD-3-Clause
# A kernel is one file (or one folder) and one line in KERNELS; the line is also its registry entry.
KERNELS = \
	%D%/synthetic.c \
	%D%/gol/gol.c \
	%D%/fw/fw.c

include %D%/gol/local.mk
include %D%/fw/local.mk
