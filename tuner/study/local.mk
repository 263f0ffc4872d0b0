# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/study.h %D%/contrast.h
