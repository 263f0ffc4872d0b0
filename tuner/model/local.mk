# SPDX-License-Identifier: GPL-3.0-or-later
# The only place that includes GSL.
libtuner_la_SOURCES += %D%/paired.c %D%/paired.h
