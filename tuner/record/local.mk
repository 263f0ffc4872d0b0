# SPDX-License-Identifier: GPL-3.0-or-later
# A format of recorded spaces is one file and one line here; the line is also its registry entry.
RECORDS = \
	%D%/record_kt.c \
	%D%/record_t4.c \
	%D%/record_ktt.c

libtuner_la_SOURCES += $(RECORDS) %D%/record.h %D%/record_load.c %D%/scan.c \
	%D%/scan_text.c %D%/record_build.c %D%/build_space.c %D%/record_impl.h
nodist_libtuner_la_SOURCES += %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(RECORDS); do f=$${f##*/record_}; echo "RECORD($${f%.*})"; done >$@
