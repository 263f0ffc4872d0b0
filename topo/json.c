/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/sys.h"
#include "topo/impl.h"

/* CPUID: bit 31 of leaf 1, ECX, says that a hypervisor is present; leaf 0x40000000 holds its signature in EBX, ECX,
 * EDX. */
static const char *hypervisor_cpuid(void) {
#if defined(__x86_64__) || defined(__i386__)
	static const char *const known[][2] = {
		{"KVMKVMKVM", "kvm"},           {"TCGTCGTCGTCG", "qemu"}, {"VMwareVMware", "vmware"},
		{"Microsoft Hv", "hyperv"},     {"XenVMMXenVMM", "xen"},  {"bhyve bhyve ", "bhyve"},
		{"VBoxVBoxVBox", "virtualbox"}, {"ACRNACRNACRN", "acrn"}, {"prl hyperv  ", "parallels"},
	};
	unsigned a, b, c, d;
	char signature[13] = "";
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1U << 31))
		return NULL;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(signature, (unsigned[]){b, c, d}, 12);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(signature, known[i][0]) == 0)
			return known[i][1];
	return "unknown";
#else
	return NULL;
#endif
}

/* The kernel's report, for Xen without CPUID, s390 and arm. */
static const char *hypervisor_kernel(void) {
	char line[128];
	if (sys_read_line("/sys/hypervisor/type", line, sizeof line) && strcmp(line, "xen") == 0)
		return "xen";
	if (sys_read_line("/proc/device-tree/hypervisor/compatible", line, sizeof line))
		return strstr(line, "kvm") ? "kvm" : strstr(line, "xen") ? "xen" : "unknown";
	if (sys_read_line("/sys/class/dmi/id/sys_vendor", line, sizeof line) && strcmp(line, "QEMU") == 0)
		return "qemu";
	return NULL;
}

static json_t *hypervisor_json(const struct topo *topo) {
	const char *name = NULL;
	if (topo->here) {
		name = hypervisor_cpuid();
		if (!name)
			name = hypervisor_kernel();
	}
	return name ? json_string(name) : json_null();
}

json_t *topo_json(const struct topo *topo) {
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:{s:I, s:I, s:I}, s:o, s:b}", "cpu", topo_cpu_model(topo),
	                 "packages", topo_count(topo, TOPO_PACKAGE), "numa_nodes", topo_count(topo, TOPO_NUMA), "llcs",
	                 topo_count(topo, TOPO_LLC), "cores", topo_count(topo, TOPO_CORE), "threads",
	                 topo_count(topo, TOPO_PU), "caches", "l1d", (json_int_t)topo_cache_size(topo, 1), "l2",
	                 (json_int_t)topo_cache_size(topo, 2), "l3", (json_int_t)topo_cache_size(topo, 3), "hypervisor",
	                 hypervisor_json(topo), "synthetic", !topo->here);
}
