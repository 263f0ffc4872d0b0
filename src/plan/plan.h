/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of what is measured, made before the first trial: the plan for one kernel is its problem, its space on this
 * machine, and its baseline. */
#ifndef SRC_PLAN_PLAN_H
#define SRC_PLAN_PLAN_H

#include "src/app/cmd.h"
#include "src/plan/params.h"
#include "tuner/spec/spec.h"

struct plan {
	const struct kernel_desc *kernel;
	struct params params;
	json_t *problem, *baseline;
	struct space *space;
	uint64_t start; /* index of the baseline in the space, UINT64_MAX if it is outside */
};

extern const struct opt plan_options[]; /* --size --set --range --oversubscribe */

/* Makes a plan from those options and one more word of --size, such as "n=512", or NULL. A size or parameter that this
 * kernel does not have is an error. */
struct plan *plan_new(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args, const char *size,
                      struct err *err);
void plan_free(struct plan *plan);

/* Suggests configurations for the start of a search. They depend only on the machine and on the usual names of
 * parameters (threads, proc_bind, block, tile_m, block_size_x, ...), not on the kernel. */
enum { PLAN_HINTS_MAX = 8 };

/* Stores up to PLAN_HINTS_MAX valid indexes, most promising first, and returns their number. start: the baseline, which
 * provides the values of all other parameters; without one (UINT64_MAX) there are no hints. */
size_t plan_hints(const struct space *space, uint64_t start, const struct topo *topo, bool gpu,
                  uint64_t out[PLAN_HINTS_MAX]);
/* The same for a whole program, whose runs may be few: teams by halves, spread, then all cores, spread and close. Most
 * of what a program gains comes from its team, and the largest gains come from a much smaller one. */
size_t plan_team_hints(const struct space *space, uint64_t start, const struct topo *topo,
                       uint64_t out[PLAN_HINTS_MAX]);

/* Tells whether one configuration uses less of the machine than another one. */

/* "processors" or "cores", of which `config` uses fewer than `than`; NULL: as many, or nobody knows. program: that of a
 * result (program_json), or NULL for a kernel. The number of threads that a program reads from its command line is
 * known only if the parameter is called so. */
const char *plan_narrower(const struct topo *topo, const json_t *program, const json_t *config, const json_t *than);
/* Adds it as "narrower" to the result of a search, of its best against its baseline. */
void plan_narrower_add(const struct topo *topo, json_t *result);

/* Makes the specification for `tune FILE.cu --kernel NAME ...`, FILE.cl and FILE.hip. */

/* --kernel --arg --problem --grid --grid-div --block --shared --option; --param, --constraint and --default belong to
 * program_options. */
extern const struct opt source_options[];
bool source_is_file(const char *word);                /* tells whether it ends in .cu, .cl or .hip */
enum spec_language source_language(const char *word); /* SPEC_OTHER for another file */
struct spec *source_spec(const char *path, const struct opt_args *args, struct err *err);
#endif
