# SPDX-License-Identifier: GPL-3.0-or-later
# A cause is one file and one line here; the line is also its registry entry. Equals are probed in this order.
CAUSES = \
	%D%/cause_false_sharing.c \
	%D%/cause_numa_first_touch.c \
	%D%/cause_lock_convoy.c \
	%D%/cause_oversubscription.c \
	%D%/cause_load_imbalance.c \
	%D%/cause_memory_bandwidth.c \
	%D%/cause_fork_join.c \
	%D%/cause_own_work.c \
	%D%/cause_serial_part.c \
	%D%/cause_shared_lines.c \
	%D%/cause_wake_up.c \
	%D%/cause_thread_placement.c \
	%D%/cause_allocation.c \
	%D%/cause_small_pages.c \
	%D%/cause_smt_sharing.c \
	%D%/cause_frequency.c \
	%D%/cause_launch_overhead.c \
	%D%/cause_occupancy_limiter.c \
	%D%/cause_host_bound.c

libtuner_la_SOURCES += $(CAUSES) %D%/cause.c %D%/cause_program.c %D%/cause_impl.h %D%/causes.c \
	%D%/probe.h %D%/surroundings.c
nodist_libtuner_la_SOURCES += %D%/causes.def
BUILT_SOURCES += %D%/causes.def
CLEANFILES += %D%/causes.def
%D%/causes.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(CAUSES); do f=$${f##*/cause_}; echo "CAUSE($${f%.*})"; done >$@
