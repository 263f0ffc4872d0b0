/* SPDX-License-Identifier: BSD-3-Clause */
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/tree.h"
#include "base/sys.h"
#include "topo/impl.h"

char *topo_xml(const struct topo *topo, struct err *err) {
	char *xml, *copy;
	int size;
	if (hwloc_topology_export_xmlbuffer(topo->hw, &xml, &size, 0) != 0)
		return err_null(err_set(err, ERR_FAILED, NULL, "hwloc cannot write the topology: %s", strerror(errno)));
	copy = mem_strdup(xml);
	hwloc_free_xmlbuffer(topo->hw, xml);
	return copy;
}

struct topo *topo_open_xml(const char *xml, struct err *err) {
	const char *dir = getenv("TMPDIR");
	mem_auto char *path = mem_printf("%s/sweetspot-topology-XXXXXX", dir && *dir ? dir : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);
	size_t size = strlen(xml);
	struct topo *topo = NULL;
	if (fd < 0 || write(fd, xml, size) != (ssize_t)size)
		err_set(err, ERR_FAILED, scratch_hint(errno), "cannot write %s: %s", path, strerror(errno));
	else
		topo = topo_open(path, err);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return topo;
}

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

static json_t *topo_plain_json(const struct topo *topo) {
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:{s:I, s:I, s:I}, s:o, s:b}", "cpu", topo->model, "packages",
	                 topo_count(topo, TOPO_PACKAGE), "numa_nodes", topo_count(topo, TOPO_NUMA), "llcs",
	                 topo_count(topo, TOPO_LLC), "cores", topo_count(topo, TOPO_CORE), "threads",
	                 topo_count(topo, TOPO_PU), "caches", "l1d", (json_int_t)topo_cache_size(topo, 1), "l2",
	                 (json_int_t)topo_cache_size(topo, 2), "l3", (json_int_t)topo_cache_size(topo, 3), "hypervisor",
	                 hypervisor_json(topo), "synthetic", !topo->here);
}

/* Intel's processors name their kinds of cores, and Arm's have a capacity. Cores that only differ in their highest
 * frequency are of one kind. NULL: neither is there. */
static const char *kind_name(const struct hwloc_info_s *infos, unsigned count) {
	for (unsigned k = 0; k < count; k++)
		if (strcmp(infos[k].name, "CoreType") == 0 || strcmp(infos[k].name, "LinuxCapacity") == 0)
			return infos[k].value;
	return NULL;
}

/* Adds the CPUs to the kind of this name. */
static void kind_add(const struct topo *topo, json_t *kinds, const char *name, hwloc_const_bitmap_t set) {
	int cores = 0;
	for (int c = 0; c < topo->places[TOPO_CORE].count; c++)
		cores += hwloc_bitmap_intersects(topo->places[TOPO_CORE].sets[c], set);
	int64_t threads = hwloc_bitmap_weight(set);
	js_each (kind, kinds) {
		if (strcmp(js_string_or(kind, "name", ""), name) != 0)
			continue;
		json_object_set_new(kind, "cores", json_integer(cores + js_int_or(kind, "cores", 0)));
		json_object_set_new(kind, "threads", json_integer(threads + js_int_or(kind, "threads", 0)));
		return;
	}
	json_array_append_new(
		kinds, json_pack("{s:o,s:i,s:I}", "name", js_text(name), "cores", cores, "threads", (json_int_t)threads));
}

/* Performance and efficiency cores, the fastest kind first; NULL if all cores are of one kind. New reference. */
static json_t *kinds_json(const struct topo *topo) {
	int count = hwloc_cpukinds_get_nr(topo->hw, 0);
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	json_t *kinds = json_array();
	for (int i = count; set && i-- > 0;) {
		struct hwloc_info_s *infos = NULL;
		unsigned info_count = 0;
		int efficiency;
		if (hwloc_cpukinds_get_info(topo->hw, (unsigned)i, set, &efficiency, &info_count, &infos, 0) != 0)
			continue;
		const char *name = kind_name(infos, info_count);
		if (name)
			kind_add(topo, kinds, name, set);
	}
	hwloc_bitmap_free(set);
	if (json_array_size(kinds) > 1)
		return kinds;
	json_decref(kinds);
	return NULL;
}

int topo_fast_cores(const struct topo *topo, int *threads) {
	js_auto json_t *kinds = kinds_json(topo);
	const json_t *fast = json_array_get(kinds, 0);
	*threads = (int)js_int_or(fast, "threads", 0);
	return (int)js_int_or(fast, "cores", 0);
}

json_t *topo_json(const struct topo *topo) {
	json_t *kinds = kinds_json(topo), *machine = topo_plain_json(topo);
	if (kinds)
		json_object_set_new(machine, "kinds", kinds);
	return machine;
}
