# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/kokkos_program.c %D%/kokkos_program.h %D%/openmp.c %D%/openmp.h %D%/program_plan.c \
	%D%/program_plan.h %D%/program_plan_baseline.c %D%/program_plan_command.c %D%/program_plan_openmp.c \
	%D%/plan_impl.h %D%/hints.c %D%/narrow.c %D%/params.c %D%/params.h %D%/plan.c \
	%D%/plan.h %D%/program_config.c %D%/program_config.h %D%/program_spec.c %D%/source_spec.c
