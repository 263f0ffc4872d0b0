# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/trial.c %D%/trial.h
