# SPDX-License-Identifier: GPL-3.0-or-later
include %D%/cpu.mk
include %D%/gpu.mk
