# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of what runs on a GPU. Where there is none they run in the emulator (emulator/), which needs g++.
include %D%/emulator/local.mk
