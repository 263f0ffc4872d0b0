# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/count.c %D%/count.h %D%/digest.h %D%/witness.c %D%/witness.h %D%/written.c %D%/written.h %D%/gpu_run.c %D%/gpu_run.h \
	%D%/output.c %D%/output.h %D%/program.c %D%/program.h \
 %D%/regions_set.c %D%/regions_set.h \
 %D%/request.c %D%/request.h %D%/run.c %D%/run.h %D%/said.c %D%/said.h %D%/simulate.c %D%/simulate.h \
 %D%/trial.c %D%/trial.h %D%/usage.c %D%/usage.h
