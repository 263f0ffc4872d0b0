# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/describe.h %D%/trial.h %D%/describe.c %D%/devices.c %D%/impl.h \
	%D%/kernel_desc.c %D%/kernel_desc.h %D%/trial.c %D%/worker.c %D%/worker.h
