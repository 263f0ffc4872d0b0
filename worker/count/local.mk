# SPDX-License-Identifier: BSD-3-Clause
libworker_la_SOURCES += %D%/counting.c %D%/counting.h %D%/counting_impl.h %D%/counting_json.c %D%/prove_events.c \
	%D%/valgrind.c %D%/simulate.h
