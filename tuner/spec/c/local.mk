# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/spec_c.c %D%/c.h %D%/impl.h %D%/c_plugin.c %D%/c_read.c

# The parts of a plug-in for a C function, as arrays of lines.
nodist_libtuner_la_SOURCES += %D%/kernel.def %D%/harness.def
BUILT_SOURCES += %D%/kernel.def %D%/harness.def
CLEANFILES += %D%/kernel.def %D%/harness.def
EXTRA_DIST += %D%/harness.inc
QUOTE_LINES = $(SED) 's/[\\"]/\\&/g; s/^/"/; s/$$/",/'
%D%/kernel.def: kernels/kernel.h
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(QUOTE_LINES) $< >$@
%D%/harness.def: %D%/harness.inc
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(QUOTE_LINES) $< >$@
