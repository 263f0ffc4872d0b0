# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/counters.c %D%/counters.h %D%/counting.c %D%/counting.h %D%/counting_batch.c \
	%D%/counting_batch.h %D%/counting_json.c %D%/noise.c %D%/noise.h %D%/simulate.c \
	%D%/simulate.h %D%/simulate_count.c %D%/simulate_file.c %D%/simulate_file.h %D%/simulate_harvest.c \
	%D%/simulate_harvest.h %D%/simulate_values.c
