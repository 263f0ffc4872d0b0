# SPDX-License-Identifier: GPL-3.0-or-later
# The only room that includes GSL.
libtuner_la_SOURCES += %D%/student.h %D%/logistic.c %D%/logistic.h %D%/paired.c %D%/paired.h %D%/pareto_front.c %D%/pareto.h %D%/robust.h
include %D%/gp/local.mk
include %D%/law/local.mk
include %D%/effects/local.mk
