# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/count.c %D%/count.h %D%/digest.c %D%/digest.h %D%/witness.c %D%/witness.h %D%/written.c %D%/written.h %D%/gpu_run.c %D%/gpu_run.h %D%/guard.c %D%/guard.h %D%/metric.c %D%/metric.h \
	%D%/output.c %D%/output.h %D%/place.c %D%/place.h %D%/procfs.c %D%/procfs.h %D%/program.c %D%/program.h \
	%D%/regions.c %D%/regions.h %D%/regions_set.c %D%/regions_set.h %D%/regions_run.c %D%/regions_run.h \
	%D%/regions_text.c %D%/request.c %D%/request.h %D%/run.c %D%/run.h %D%/said.c %D%/said.h %D%/simulate.c %D%/simulate.h \
	%D%/simulate_read.c %D%/trial.c %D%/trial.h %D%/usage.c %D%/usage.h
