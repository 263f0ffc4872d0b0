# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/digest.c %D%/program_impl.h %D%/regions_set.c %D%/runner_count.c %D%/runner_output.c \
	%D%/runner_program.c %D%/runner_program.h %D%/runner_reply.c %D%/runner_request.c %D%/runner_run.c \
	%D%/runner_trial.c %D%/written.c
