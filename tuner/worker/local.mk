# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/impl.h \
 %D%/kernel_desc.h %D%/client_trial.c %D%/worker.c %D%/worker.h
