# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/run_impl.h %D%/compare_duel.c %D%/run_manual.c %D%/sweep_program.c %D%/sweep_table.c
