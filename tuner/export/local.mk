# SPDX-License-Identifier: GPL-3.0-or-later
# A format is one file and one line here; the line is also its registry entry.
EXPORTS = \
	%D%/json.c \
	%D%/env.c \
	%D%/csv.c \
	%D%/kt.c \
	%D%/t4.c \
	%D%/ktt.c

libtuner_la_SOURCES += $(EXPORTS) %D%/registry.c %D%/export.h %D%/trials.c %D%/trials.h
nodist_libtuner_la_SOURCES += %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(EXPORTS); do f=$${f##*/}; echo "EXPORT($${f%.*})"; done >$@
