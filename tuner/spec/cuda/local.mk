# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/ahead.c %D%/argument.c %D%/cuda.c %D%/cuda.h %D%/impl.h %D%/metric.c %D%/option.c %D%/read.c %D%/shape.c \
	%D%/value.c
