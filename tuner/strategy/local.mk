# SPDX-License-Identifier: GPL-3.0-or-later
# A strategy is one file and one line here; the line is also its registry entry.
STRATEGIES = \
	%D%/auto.c \
	%D%/grid.c \
	%D%/random.c \
	%D%/ils.c \
	%D%/annealing.c \
	%D%/genetic.c \
	%D%/bayes.c

libtuner_la_SOURCES += $(STRATEGIES) %D%/chains.c %D%/own.c %D%/strategy_impl.h
nodist_libtuner_la_SOURCES += %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(STRATEGIES); do f=$${f##*/}; echo "STRATEGY($${f%.*})"; done >$@
