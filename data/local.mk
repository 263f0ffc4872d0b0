# SPDX-License-Identifier: GPL-3.0-or-later
schemadir = $(pkgdatadir)/schema
dist_schema_DATA = \
	%D%/schema/compare.json \
	%D%/schema/counter-events.json \
	%D%/schema/counter-group.json \
	%D%/schema/doctor.json \
	%D%/schema/explain.json \
	%D%/schema/fleet-plan.json \
	%D%/schema/fleet-status.json \
	%D%/schema/fleet.json \
	%D%/schema/machine.json \
	%D%/schema/measured.json \
	%D%/schema/plan.json \
	%D%/schema/profile-diff.json \
	%D%/schema/profile-merge.json \
	%D%/schema/profile-select.json \
	%D%/schema/profile-show.json \
	%D%/schema/profile-verify.json \
	%D%/schema/profile.json \
	%D%/schema/replay.json \
	%D%/schema/report.json \
	%D%/schema/regions.json \
	%D%/schema/run.json \
	%D%/schema/score.json \
	%D%/schema/state.json \
	%D%/schema/share.json \
	%D%/schema/store-import.json \
	%D%/schema/store-list.json \
	%D%/schema/store-merge.json \
	%D%/schema/store-rm.json \
	%D%/schema/store.json \
	%D%/schema/sweep-plan.json \
	%D%/schema/sweep.json \
	%D%/schema/tune-plan.json \
	%D%/schema/tune.json

# Portable events, and a file for each family of CPUs that counts them its own way.
eventsdir = $(pkgdatadir)/events
dist_events_DATA = \
	%D%/events/generic.json \
	%D%/events/arm-armv8.json \
	%D%/events/arm-neoverse.json \
	%D%/events/amd-zen2.json \
	%D%/events/amd-zen3.json \
	%D%/events/amd-zen4.json \
	%D%/events/amd-zen5.json \
	%D%/events/intel-icelake.json \
	%D%/events/intel-icelake-x.json \
	%D%/events/intel-sapphirerapids.json \
	%D%/events/intel-skylake.json \
	%D%/events/intel-skylake-x.json \
	%D%/events/nvidia.json

groupsdir = $(pkgdatadir)/groups
dist_groups_DATA = \
	%D%/groups/branch.json \
	%D%/groups/cache.json \
	%D%/groups/cpu.json \
	%D%/groups/energy.json \
	%D%/groups/false_share.json \
	%D%/groups/flops.json \
	%D%/groups/flops_dp.json \
	%D%/groups/flops_sp.json \
	%D%/groups/gpu.json \
	%D%/groups/gpu_activity.json \
	%D%/groups/gpu_flops.json \
	%D%/groups/gpu_functions.json \
	%D%/groups/gpu_mem.json \
	%D%/groups/gpu_occ.json \
	%D%/groups/gpu_peak.json \
	%D%/groups/gpu_shared.json \
	%D%/groups/l2.json \
	%D%/groups/l3.json \
	%D%/groups/mem.json \
	%D%/groups/simulated.json \
	%D%/groups/software.json \
	%D%/groups/stalls.json \
	%D%/groups/tlb.json
