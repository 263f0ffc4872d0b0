# SPDX-License-Identifier: GPL-3.0-or-later
# A strategy is one file and one line here; the line is also its registry entry.
STRATEGIES = \
	%D%/auto.c \
	%D%/grid.c \
	%D%/random.c \
	%D%/mls.c \
	%D%/ils.c \
	%D%/annealing.c \
	%D%/basin.c \
	%D%/genetic.c \
	%D%/diffevo.c \
	%D%/swarm.c \
	%D%/bandit.c \
	%D%/bayes.c

libtuner_la_SOURCES += $(STRATEGIES) %D%/registry.c %D%/strategy.h \
	%D%/opening.c %D%/opening.h \
	%D%/around.c %D%/around.h %D%/descent.c %D%/descent.h \
	%D%/starts.c %D%/starts.h %D%/chains.c %D%/chains.h \
	%D%/coding.c %D%/coding.h %D%/cost.c %D%/cost.h \
	%D%/surrogate.c %D%/surrogate_first.c %D%/surrogate_say.c %D%/surrogate_models.c %D%/surrogate_target.c %D%/surrogate_pool.c %D%/surrogate_source.c \
	%D%/surrogate.h %D%/surrogate_impl.h \
	%D%/place.c %D%/place.h %D%/credit.c %D%/credit.h
nodist_libtuner_la_SOURCES = %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
%D%/registry.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(STRATEGIES); do f=$${f##*/}; echo "STRATEGY($${f%.*})"; done >$@
