# SPDX-License-Identifier: GPL-3.0-or-later
libbase_la_SOURCES += %D%/shape.c %D%/slice.h %D%/t1.h %D%/t1_impl.h %D%/t1_options.c %D%/t1_params.c %D%/values.c
