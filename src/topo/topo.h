/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine, through hwloc: what it has, what OpenMP places mean on it, and binding threads to them. Both the program
 * and the worker link it. */
#ifndef SRC_TOPO_TOPO_H
#define SRC_TOPO_TOPO_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

struct topo;

/* source: NULL for this machine (restricted to the CPUs that this process, all of its threads together, may use),
 * "synthetic:package:2 core:4 pu:2", or the path of an hwloc XML file. ERR_USAGE for a source that is not one. */
struct topo *topo_open(const char *source, struct err *err);
void topo_close(struct topo *topo);
/* As hwloc writes it, and a topology from that: of another machine. The caller frees the text. */
char *topo_xml(const struct topo *topo, struct err *err);
struct topo *topo_open_xml(const char *xml, struct err *err);
bool topo_is_here(const struct topo *topo); /* false for synthetic and recorded ones: nothing can be bound */

/* A level is counted in OpenMP places, so that none is ever empty: where the machine has no such thing, cores are
 * hardware threads, and the others the next larger: last-level caches -> NUMA domains -> packages -> the machine. */
enum topo_level { TOPO_PU, TOPO_CORE, TOPO_LLC, TOPO_NUMA, TOPO_PACKAGE, TOPO_LEVELS };
int topo_count(const struct topo *topo, enum topo_level level);
/* Bytes of one cache of level 1, 2 or 3 (data or unified); 0 where there is none. */
uint64_t topo_cache_size(const struct topo *topo, int level);
const char *topo_cpu_model(const struct topo *topo);

/* OpenMP 5.2, sections 21.1.6 and 10.1.3: the places named threads, cores, ll_caches, numa_domains, sockets, and what
 * proc_bind false, close, spread, primary (alias master) does with them. */
#define TOPO_PLACES "threads", "cores", "ll_caches", "numa_domains", "sockets"
#define TOPO_BINDS  "false", "close", "spread", "primary"

/* Where each thread of a team would be allowed to run. Opaque; free with topo_binding_free, before its topology. */
struct topo_binding;
/* places is ignored for proc_bind false. NULL and ERR_USAGE for an unknown word or fewer than 1 thread. */
struct topo_binding *topo_binding_new(const struct topo *topo, int threads, const char *places, const char *proc_bind,
                                      struct err *err);
void topo_binding_free(struct topo_binding *binding);
/* The same text for bindings that can't differ on this machine: the sets of CPUs of threads 0, 1, ... in list format,
 * runs shortened, [*] for all CPUs: "[0-3]x2[4-7]x2". Binding to all CPUs is no binding. Owned by binding. */
const char *topo_binding_key(const struct topo_binding *binding);
/* Binds the calling thread as number `thread` of the team to its whole place, for proc_bind false to all CPUs that the
 * process may use, and asks the system whether it did. */
int topo_binding_apply(const struct topo *topo, const struct topo_binding *binding, int thread, struct err *err);
/* Is the CPU where the calling thread last ran inside its set? Writes the CPU's number. */
bool topo_binding_holds(const struct topo *topo, const struct topo_binding *binding, int thread, int *cpu);

/* hypervisor: "kvm", "xen", ... or null where none shows. synthetic: not this machine.
 * {"cpu", "packages", "numa_nodes", "llcs", "cores", "threads", "caches": {"l1d", "l2", "l3"} in bytes, "hypervisor",
 * "synthetic"}: no host name, no serial numbers. New reference. */
json_t *topo_json(const struct topo *topo);

#endif
