# SPDX-License-Identifier: GPL-3.0-or-later
# A diagnosis is one file and one line here; the line is also its registry entry.
DIAGNOSES = \
	%D%/impossible_time.c \
	%D%/memory_bandwidth.c \
	%D%/cache_capacity.c \
	%D%/pipeline_bound.c \
	%D%/false_sharing.c \
	%D%/true_sharing.c \
	%D%/lock_convoy.c \
	%D%/lock_holder_preemption.c \
	%D%/oversubscription.c \
	%D%/load_imbalance.c \
	%D%/mixed_cores.c \
	%D%/scheduling_overhead.c \
	%D%/task_cost.c \
	%D%/fork_join.c \
	%D%/few_blocks.c \
	%D%/inner_teams.c \
	%D%/numa_first_touch.c \
	%D%/smt_sharing.c \
	%D%/iteration_count.c \
	%D%/uncoalesced.c \
	%D%/occupancy_limiter.c \
	%D%/register_spills.c \
	%D%/register_tile.c \
	%D%/shared_memory.c \
	%D%/bank_conflicts.c \
	%D%/atomic_contention.c \
	%D%/hottest_function.c \
	%D%/launch_overhead.c \
	%D%/host_bound.c \
	%D%/host_share.c \
	%D%/transfer_bound.c \
	%D%/partial_warps.c \
	%D%/tail_wave.c \
	%D%/dram_bandwidth.c \
	%D%/execution_pipe.c \
	%D%/tensor_instructions.c \
	%D%/compute_peak.c

libtuner_la_SOURCES += $(DIAGNOSES) \
	%D%/registry.c %D%/diagnosis.h \
	%D%/gpu_impl.h %D%/gpu_facts.c \
	%D%/laws_impl.h %D%/laws_of_sizes.c %D%/laws_of_teams.c %D%/laws_of_contrasts.c %D%/laws_of_work.c \
	%D%/diagnosis_probe.c %D%/diagnosis_probe.h %D%/remedy.c \
	%D%/findings.c
nodist_libtuner_la_SOURCES += %D%/diagnoses.def
BUILT_SOURCES += %D%/diagnoses.def
CLEANFILES += %D%/diagnoses.def
%D%/diagnoses.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for f in $(DIAGNOSES); do f=$${f##*/}; echo "DIAGNOSIS($${f%.*})"; done >$@
