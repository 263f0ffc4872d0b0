# SPDX-License-Identifier: GPL-3.0-or-later
# A reading is one file and one line here; the line is also its registry entry.
READINGS = \
	%D%/ranking.c \
	%D%/serial.c \
	%D%/curve.c \
	%D%/crossing.c \
	%D%/limits.c \
	%D%/hyperthreads.c \
	%D%/binding.c \
	%D%/growth.c \
	%D%/offset.c \
	%D%/plateaus.c \
	%D%/parts.c \
	%D%/weak.c \
	%D%/repeats.c

libtuner_la_SOURCES += $(READINGS) %D%/deciding.c %D%/reading.c %D%/reading.h
nodist_libtuner_la_SOURCES += %D%/readings.def
BUILT_SOURCES += %D%/readings.def
CLEANFILES += %D%/readings.def
%D%/readings.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(READINGS); do f=$${f##*/}; echo "DIAGNOSIS($${f%.*})"; done >$@
