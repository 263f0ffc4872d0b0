# SPDX-License-Identifier: BSD-3-Clause
# A lock is one file and one line here; the line is also its registry entry and a word of LOCK_WORDS.
LOCKS = \
	%D%/none.c \
	%D%/mutex.c \
	%D%/spin.c \
	%D%/tas.c \
	%D%/ttas.c \
	%D%/backoff.c \
	%D%/ticket.c \
	%D%/array.c \
	%D%/clh.c \
	%D%/mcs.c \
	%D%/critical.c \
	%D%/omp.c \
	%D%/futex.c

libkernels_la_SOURCES += $(LOCKS) \
	%D%/registry.c %D%/registry.h \
	%D%/arena.c %D%/oracle.c \
	%D%/lock.h %D%/locks.h %D%/contest.h %D%/cells.h %D%/wait.h
libkernels_counted_la_SOURCES += $(LOCKS)
nodist_libkernels_la_SOURCES += %D%/registry.def
BUILT_SOURCES += %D%/registry.def
CLEANFILES += %D%/registry.def
EXTRA_DIST += build-aux/gen-locks
%D%/registry.def: Makefile build-aux/gen-locks
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(top_srcdir)/build-aux/gen-locks $(LOCKS) >$@
