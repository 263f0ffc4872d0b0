/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The limits of this machine: bandwidths, arithmetic peaks, costs of OpenMP. Measured with the kernel "ceiling",
 * kept in a file for each fingerprint. In JSON a ceiling is
 * {"name", "level"?, "threads", "value", "unit", "samples": [..], "disturbed", "stores"?, "from"?, "to"?}, of a GPU
 * {"name", "device": "cuda", "level"?, "value", "unit", "samples", "disturbed", "block"?, "per_sm"?}. */
#ifndef SRC_CMD_MACHINE_CEILINGS_H
#define SRC_CMD_MACHINE_CEILINGS_H
#include <jansson.h>
#include <stddef.h>

#include "src/app/cmd.h"

enum ceiling_group { CEILING_BANDWIDTH, CEILING_PEAK, CEILING_COST, CEILING_PAIR };

struct ceiling_kind {
	const char *name, *unit; /* the name is the kernel's word for it, too */
	enum ceiling_group group;
	double scale; /* to the unit, from operations a second, or from seconds an operation (costs and pairs) */
	long long n;  /* repetitions in a run; 0: bytes, by level */
};
extern const struct ceiling_kind ceiling_kinds[]; /* ends with a NULL name */
extern const char *const ceiling_levels[];        /* "l1d", "l2", "l3", "dram", NULL */
const struct ceiling_kind *ceiling_kind_find(const char *name);

/* value: in the kind's unit; than: NAN is none. */
bool ceiling_better(const struct ceiling_kind *kind, double value, double than);

/* The ceilings of a GPU. */
struct ceiling_gpu {
	struct ceiling_kind kind;
	const char *level, *summary; /* level: "dram", "l2" or NULL */
	bool launched;               /* with blocks */
};
extern const struct ceiling_gpu ceiling_gpus[]; /* ends with a NULL name */
const struct ceiling_gpu *ceiling_gpu_find(const char *name, const char *level);

/* One trial to make. */
struct ceiling_item {
	const struct ceiling_kind *kind;
	const char *level;  /* NULL where there is none */
	const char *stores; /* "plain", "stream" or NULL */
	const char *device; /* NULL: the CPU */
	int block, per_sm;  /* of a GPU; 0 where nothing is launched */
	int threads, from, to;
	long long n;
	double value;   /* the best median so far; NAN: none */
	bool disturbed; /* that trial was */
	json_t *samples;
};

/* src/cmd/machine/ceilings_plan.c: items in the order of the tables; the caller frees the array. */
struct ceiling_item *ceilings_plan(const struct topo *topo, unsigned long long memory, size_t *count);
/* 1, 2, 4, .. and the cores and all hardware threads, ascending; at most `room` of them. */
size_t ceilings_thread_counts(const struct topo *topo, int *counts, size_t room);

/* src/cmd/machine/ceilings_gpu.c: the same for the GPU of --device, all that the kernel offers for each ceiling in a
 * row; and of each only the best, to be measured again: how many are left. */
struct ceiling_item *ceilings_gpu_plan(struct app *app, size_t *count, struct err *err);
size_t ceilings_gpu_best(struct ceiling_item *items, size_t count);

/* samples: of each ceiling. New reference; NULL and err: interrupted, or nothing could be measured. */
json_t *ceilings_measure(struct app *app, int samples, struct err *err);

/* src/cmd/machine/ceilings_file.c: in $XDG_CACHE_HOME/sweetspot. Load: ERR_NOTHING where they were never measured on
 * this machine, ERR_USAGE for a file that is no such list. */
int ceilings_save(struct app *app, const json_t *ceilings, struct err *err);
json_t *ceilings_load(struct app *app, struct err *err);
int ceilings_check(const json_t *ceilings, struct err *err);

/* src/cmd/machine/ceilings_table.c */
void ceilings_print(struct ui *ui, const json_t *ceilings);
/* NULL where it is not there; level may be NULL. Borrowed. */
const json_t *ceilings_find(const json_t *ceilings, const char *name, const char *level, int threads);

#endif
