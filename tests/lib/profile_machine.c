/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library's view of the kernel's files, on a made machine, and whether a profile belongs to it. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tree.h"
#include "tests/lib/profile_made.h"
#include "tests/tap.h"

#define CPU "/sys/devices/system/cpu"

static void put(const char *root, const char *name, const char *text) {
	char *path = mem_printf("%s%s", root, name);
	for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *out = fopen(path, "w");
	if (!out || fputs(text, out) < 0 || fclose(out) != 0)
		exit(99);
	free(path);
}

static void put_cpu(const char *root, int cpu, const char *name, const char *text) {
	char *path = mem_printf(CPU "/cpu%d/%s", cpu, name);
	put(root, path, text);
	free(path);
}

/* Eight threads: two packages of two cores of two threads. */
static void build(const char *root) {
	static const char *const cores[] = {"0,4\n", "1,5\n", "2,6\n", "3,7\n"}, *const packages[] = {"0-1,4-5\n",
	                                                                                              "2-3,6-7\n"};
	put(root, "/proc/cpuinfo", "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Made  CPU\t9\n");
	put(root, "/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA Made GPU\nIRQ: 1\n");
	put(root, CPU "/online", "0-7\n");
	put(root, "/sys/devices/system/node/online", "0-1\n");
	for (int cpu = 0; cpu < 8; cpu++) {
		put_cpu(root, cpu, "topology/thread_siblings_list", cores[cpu % 4]);
		put_cpu(root, cpu, "topology/core_siblings_list", packages[cpu % 4 / 2]);
	}
	static const char *const caches[][3] = {
		{"1", "Instruction", "64K"}, {"1", "Data", "32K"}, {"2", "Unified", "1024K"}, {"3", "Unified", "8M"}};
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = {"level", "type", "size"};
		for (int k = 0; k < 3; k++) {
			char *name = mem_printf("cache/index%d/%s", i, names[k]);
			put_cpu(root, 0, name, caches[i][k]);
			put_cpu(root, 2, name, caches[i][k]);
			free(name);
		}
	}
}

static void check_whole(const char *root, struct ssp_arena *arena) {
	struct ssp_machine here;
	ssp_machine_read(root, arena, &here);
	is_text(here.cpu, "Made  CPU\t9", "the processor");
	is_text(here.gpu, "NVIDIA Made GPU\n", "the GPU");
	ok(here.threads == 8 && here.cores == 4 && here.packages == 2 && here.numa_nodes == 2,
	   "the machine's threads, cores, packages and nodes are read");
	put(root, "/sys/devices/system/node/online", "0-3\n");
	put(root, "/sys/devices/system/node/has_cpu", "0-1\n");
	ssp_machine_read(root, arena, &here);
	ok(here.numa_nodes == 2, "nodes that only have memory are not groups of processors");
	ok(here.l1d == 32 << 10 && here.l2 == 1 << 20 && here.l3 == 8 << 20, "caches of data");
}

static void check_groups(const char *root, struct ssp_arena *arena) {
	struct ssp_machine here;
	put(root, "/proc/self/cgroup", "0::/a/b\n");
	put(root, "/sys/fs/cgroup/a/cpuset.cpus.effective", "2,6-7\n");
	put(root, "/sys/fs/cgroup/a/cpuset.mems.effective", "1\n");
	ssp_machine_read(root, arena, &here);
	ok(here.threads == 3 && here.cores == 2 && here.packages == 1 && here.numa_nodes == 1,
	   "the CPUs that the control group leaves");
	put(root, "/proc/self/cgroup", "3:cpuset:/c\n2:cpu:/\n");
	put(root, "/sys/fs/cgroup/cpuset/c/cpuset.cpus", "0-3\n");
	ssp_machine_read(root, arena, &here);
	ok(here.threads == 4 && here.cores == 4 && here.packages == 2,
	   "the CPUs that a control group of version 1 leaves are read");
	put(root, "/proc/self/cgroup", "0::/../../a\n");
	ssp_machine_read(root, arena, &here);
	ok(here.threads == 8, "a group outside does not count");
}

static void check_nonsense(const char *root, struct ssp_arena *arena) {
	static const char *const lists[] = {"", "x", "3-1", "-1", "0-99999999999999999999", "1,,2", "9999999"};
	struct ssp_set *set = ssp_arena_alloc(arena, 1, sizeof *set);
	struct ssp_machine here;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		ok(!ssp_set_parse(lists[i], set) || set->count <= SSP_CPUS_MAX, "list %zu stays within bounds", i);
	ok(ssp_set_parse("0-3,8", set) && set->count == 5 && set->has[8], "a list");
	put(root, CPU "/online", "many\n");
	ssp_machine_read(root, arena, &here);
	ok(here.threads == 0 && here.cpu, "unreadable facts are unknown");
	ssp_machine_read("/nowhere/at/all", arena, &here);
	ok(!here.cpu && !here.gpu && !here.threads && !here.l3, "nothing is known of a machine without files");
}

static void check_differs(struct ssp_arena *arena) {
	const struct ssp_machine here = {.cpu = "Made  CPU 9", .threads = 8, .l3 = 8 << 20, .gpu = "A\nNVIDIA B\n"};
	struct ssp_machine there = {.cpu = "Made CPU 9 ", .threads = 8, .cores = 3};
	ok(!ssp_machine_differs(&there, &here, arena), "the same, but for blanks and unknown facts");
	there.gpu = "NVIDIA B";
	ok(!ssp_machine_differs(&there, &here, arena), "one of its GPUs");
	there.gpu = "NVIDIA";
	ok(strstr(ssp_machine_differs(&there, &here, arena), "GPU"), "another GPU");
	there.gpu = NULL;
	there.l3 = 4 << 20;
	ok(strstr(ssp_machine_differs(&there, &here, arena), "L3"), "another cache");
	there.l3 = 0;
	there.cpu = "Made CPU 90";
	ok(strstr(ssp_machine_differs(&there, &here, arena), "processor"), "another processor");
	there.cpu = "Made CPU";
	ok(ssp_machine_differs(&there, &here, arena), "a processor with less of a name differs");
	there = (struct ssp_machine){.cpu = "Made CPU 9", .threads = 8, .synthetic = true};
	ok(ssp_machine_differs(&there, &here, arena), "a described machine");
	there = (struct ssp_machine){.cpu = "Made CPU 9"};
	ok(ssp_machine_differs(&there, &here, arena), "a name alone does not do");
}

int main(void) {
	char root[] = "/tmp/sweetspot-machine-XXXXXX";
	struct ssp_arena *arena = ssp_arena_new();
	if (!arena || !mkdtemp(root))
		return 99;
	build(root);
	check_whole(root, arena);
	check_groups(root, arena);
	check_nonsense(root, arena);
	check_differs(arena);
	tree_remove(root);
	ssp_arena_free(arena);
	return tap_done();
}
