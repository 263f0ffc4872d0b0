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

# Portable events, and how each CPU counts them, which make-events writes.
EXTRA_DIST += %D%/make-events
eventsdir = $(pkgdatadir)/events
dist_events_DATA = \
	%D%/events/generic.json \
	%D%/events/amd-zen1.json \
	%D%/events/amd-zen2.json \
	%D%/events/amd-zen3.json \
	%D%/events/amd-zen4.json \
	%D%/events/amd-zen5.json \
	%D%/events/amd-zen6.json \
	%D%/events/apple-apple.json \
	%D%/events/arm-a64fx.json \
	%D%/events/arm-ampereone.json \
	%D%/events/arm-ampereonex.json \
	%D%/events/arm-armv8.json \
	%D%/events/arm-cortex-a57.json \
	%D%/events/arm-cortex-a76.json \
	%D%/events/arm-monaka.json \
	%D%/events/arm-neoverse-n1.json \
	%D%/events/arm-neoverse-n2.json \
	%D%/events/arm-neoverse-n3.json \
	%D%/events/arm-neoverse-v1.json \
	%D%/events/arm-neoverse-v2.json \
	%D%/events/arm-neoverse-v3.json \
	%D%/events/arm-olympus.json \
	%D%/events/ibm-power10.json \
	%D%/events/ibm-power9.json \
	%D%/events/intel-alderlake.json \
	%D%/events/intel-alderlaken.json \
	%D%/events/intel-arrowlake.json \
	%D%/events/intel-broadwell.json \
	%D%/events/intel-broadwellde.json \
	%D%/events/intel-broadwellx.json \
	%D%/events/intel-clearwaterforest.json \
	%D%/events/intel-elkhartlake.json \
	%D%/events/intel-emeraldrapids.json \
	%D%/events/intel-goldmont.json \
	%D%/events/intel-goldmontplus.json \
	%D%/events/intel-grandridge.json \
	%D%/events/intel-graniterapids.json \
	%D%/events/intel-haswell.json \
	%D%/events/intel-haswellx.json \
	%D%/events/intel-icelake.json \
	%D%/events/intel-icelakex.json \
	%D%/events/intel-knightslanding.json \
	%D%/events/intel-lunarlake.json \
	%D%/events/intel-meteorlake.json \
	%D%/events/intel-pantherlake.json \
	%D%/events/intel-rocketlake.json \
	%D%/events/intel-sapphirerapids.json \
	%D%/events/intel-sierraforest.json \
	%D%/events/intel-silvermont.json \
	%D%/events/intel-skylake.json \
	%D%/events/intel-skylakex.json \
	%D%/events/intel-snowridgex.json \
	%D%/events/intel-tigerlake.json \
	%D%/events/nvidia.json

groupsdir = $(pkgdatadir)/groups
dist_groups_DATA = \
	%D%/groups/branch.json \
	%D%/groups/cache.json \
	%D%/groups/cpu.json \
	%D%/groups/data.json \
	%D%/groups/divide.json \
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
	%D%/groups/gpu_pipes.json \
	%D%/groups/icache.json \
	%D%/groups/l2.json \
	%D%/groups/l3.json \
	%D%/groups/mem.json \
	%D%/groups/numa.json \
	%D%/groups/simulated.json \
	%D%/groups/software.json \
	%D%/groups/stalls.json \
	%D%/groups/tlb.json \
	%D%/groups/topdown.json \
	%D%/groups/vector.json
