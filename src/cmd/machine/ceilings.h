/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ceilings are the measured limits of this machine: bandwidths, arithmetic peaks, costs of OpenMP. The kernel "ceiling"
 * measures them, and a file for each fingerprint keeps them. In JSON a ceiling is {"name", "level"?, "threads",
 * "value", "unit", "samples": [..], "disturbed", "stores"?, "from"?, "to"?}, and on a GPU {"name", "device": "cuda",
 * "level"?, "value", "unit", "samples", "disturbed", "block"?, "per_sm"?}. */
#ifndef SRC_CMD_MACHINE_CEILINGS_H
#define SRC_CMD_MACHINE_CEILINGS_H

#include "src/app/cmd.h"

enum ceiling_group { CEILING_BANDWIDTH, CEILING_PEAK, CEILING_COST, CEILING_PAIR };

struct ceiling_kind {
	const char *name, *unit; /* the name is also a value of the kernel's parameter */
	enum ceiling_group group;
	double
		scale;   /* factor to the unit from operations per second or, for costs and pairs, from seconds per operation */
	long long n; /* repetitions in a run; 0: a number of bytes that depends on the level */
};
extern const struct ceiling_kind ceiling_kinds[]; /* ends with a NULL name */
extern const char *const ceiling_levels[];        /* "l1d", "l2", "l3", "dram", NULL */
const struct ceiling_kind *ceiling_kind_find(const char *name);

/* Values are in the unit of the kind; `than` may be NAN for a first value. */
bool ceiling_better(const struct ceiling_kind *kind, double value, double than);

/* A ceiling of a GPU. */
struct ceiling_gpu {
	struct ceiling_kind kind;
	const char *level, *summary; /* level: "dram", "l2" or NULL */
	bool launched;               /* started as a kernel with blocks */
};
extern const struct ceiling_gpu ceiling_gpus[]; /* ends with a NULL name */
const struct ceiling_gpu *ceiling_gpu_find(const char *name, const char *level);

/* A trial to run, and its best result so far. */
struct ceiling_item {
	const struct ceiling_kind *kind;
	const char *level;  /* NULL if the ceiling has no level */
	const char *stores; /* "plain", "stream" or NULL */
	const char *device; /* NULL: the CPU */
	int block, per_sm;  /* on a GPU; 0 if the ceiling is not a launched kernel */
	int threads, from, to;
	long long n;
	double value;   /* the best median so far, or NAN */
	bool disturbed; /* whether the trial with that value was disturbed */
	bool unsteady;  /* another one shows that it is too low */
	json_t *samples;
};

/* Marks the items that others show to be too low, and returns how many there are (ceilings.c).
 */
size_t ceilings_unsteady(struct ceiling_item *items, size_t count);
/* Removes the values of these, marks other rates of their group as disturbed, and returns how many were removed. */
size_t ceilings_unsteady_drop(struct ceiling_item *items, size_t count);

/* Makes the items in the order of the tables; the caller frees the array (src/cmd/machine/ceilings_plan.c). */
struct ceiling_item *ceilings_plan(const struct topo *topo, unsigned long long memory, size_t *count);
/* Fills in 1, 2, 4, .., the number of cores and the number of hardware threads, in ascending order, at most `room` of
 * them. */
size_t ceilings_thread_counts(const struct topo *topo, int *counts, size_t room);

/* The same for the GPU of --device (src/cmd/machine/ceilings_plan.c): ceilings_gpu_plan lists every block size that the
 * kernel offers, those of one ceiling in succession. ceilings_gpu_best keeps the best item of each ceiling, to be
 * measured again, and returns how many remain. */
struct ceiling_item *ceilings_gpu_plan(struct app *app, size_t *count, struct err *err);
size_t ceilings_gpu_best(struct ceiling_item *items, size_t count);

/* Measures each ceiling with this number of samples. New reference; NULL with err if interrupted, or if nothing could
 * be measured. */
json_t *ceilings_measure(struct app *app, int samples, struct err *err);

/* Kept in $XDG_CACHE_HOME/sweetspot (src/cmd/machine/ceilings_file.c). Loading fails with ERR_NOTHING if they were
 * never measured on this machine, and with ERR_USAGE if the file is damaged. */
int ceilings_save(struct app *app, const json_t *ceilings, struct err *err);
json_t *ceilings_load(struct app *app, struct err *err);
int ceilings_check(const json_t *ceilings, struct err *err);
#endif
