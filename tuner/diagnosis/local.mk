# SPDX-License-Identifier: GPL-3.0-or-later
# A diagnosis is one file and one line here; the line is also its registry entry.
DIAGNOSES =

libtuner_la_SOURCES += $(DIAGNOSES) %D%/diagnosis.h
