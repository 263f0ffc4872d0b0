/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as hwloc sees it: its objects, what OpenMP places mean on it, and binding threads to them. Both the
 * program and the worker link it. */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct topo;

/* source: NULL for this machine (restricted to the CPUs that this process, with all of its threads, may use), or for
 * what $SWEETSPOT_TOPOLOGY names (a file is taken for this machine); "synthetic:package:2 core:4 pu:2", or the path of
 * an hwloc XML file. ERR_USAGE for anything else. hwloc's own variables have no effect. */
struct topo *topo_open(const char *source, struct err *err);
void topo_close(struct topo *topo);
/* The first variable that would have hwloc describe another machine; NULL: none is set. */
const char *topo_ignored(void);
/* hwloc's XML, and a topology from it, which is treated as another machine's. The caller frees the text. */
char *topo_xml(const struct topo *topo, struct err *err);
struct topo *topo_open_xml(const char *xml, struct err *err);
bool topo_is_here(
	const struct topo *topo); /* false for synthetic and recorded machines, on which threads cannot be bound */

/* Levels are counted in OpenMP places, so none is ever empty. Where the machine lacks a level, cores are hardware
 * threads, and the others fall back to the next larger: last-level caches -> NUMA domains -> packages -> the
 * machine. */
enum topo_level { TOPO_PU, TOPO_CORE, TOPO_LLC, TOPO_NUMA, TOPO_PACKAGE, TOPO_LEVELS };
int topo_count(const struct topo *topo, enum topo_level level);
/* Bytes of one cache of level 1, 2 or 3 (data or unified); 0 if the machine lacks it. */
uint64_t topo_cache_size(const struct topo *topo, int level);
/* Cores of the fastest kind, and their hardware threads; 0: all cores are of one kind. */
int topo_fast_cores(const struct topo *topo, int *threads);

/* OpenMP 5.2, sections 21.1.6 and 10.1.3: the places threads, cores, ll_caches, numa_domains and sockets, and the
 * policies proc_bind false, close, spread and primary (alias master). */
#define TOPO_PLACES "threads", "cores", "ll_caches", "numa_domains", "sockets"
#define TOPO_BINDS  "false", "close", "spread", "primary"

/* The CPUs that each thread of a team may run on. Opaque; free it with topo_binding_free before its topology. */
struct topo_binding;
/* places is ignored for proc_bind false. NULL and ERR_USAGE for an unknown word or fewer than 1 thread. */
struct topo_binding *topo_binding_new(const struct topo *topo, int threads, const char *places, const char *proc_bind,
                                      struct err *err);
void topo_binding_free(struct topo_binding *binding);
/* The same text for bindings that are equal on this machine: the CPU sets of threads 0, 1, ... in list format, runs
 * shortened, [*] for all CPUs: "[0-3]x2[4-7]x2". Binding to all CPUs counts as no binding. Owned by binding. */
const char *topo_binding_key(const struct topo_binding *binding);
/* Writes the CPUs of one thread in rising order, at most `max`; returns how many there are. */
size_t topo_binding_cpus(const struct topo_binding *binding, int thread, int *cpus, size_t max);
/* Binds the calling thread as number `thread` of the team to its whole place (for proc_bind false, to all CPUs that
 * the process may use), and verifies the result with the system. */
int topo_binding_apply(const struct topo *topo, const struct topo_binding *binding, int thread, struct err *err);
/* True if the CPU where the calling thread last ran is inside its set. Writes the CPU's number. */
bool topo_binding_holds(const struct topo *topo, const struct topo_binding *binding, int thread, int *cpu);

/* hypervisor: "kvm", "xen", ... or null if none is visible. synthetic: not this machine. {"cpu", "packages",
 * "numa_nodes", "llcs", "cores", "threads", "caches": {"l1d", "l2", "l3"} in bytes, "hypervisor", "synthetic"}:
 * without host name and serial numbers. New reference. */
json_t *topo_json(const struct topo *topo);
#endif
